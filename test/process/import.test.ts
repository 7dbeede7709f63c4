import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Sql, withSql } from '../support/kill-rig.ts';
import { callOnce, makePeople } from '../support/rest-client.ts';
import {
  adminToken,
  createProcessRig,
  embeddedUrl,
  type ProcessRig,
  ROOT,
  type ServerProcess,
} from '../support/server-process.ts';

/** `holdfast import`, from files by a process of its own into a running server. */
const SMALL_GRAPH = fileURLToPath(new URL('small-graph', import.meta.url));
const HANDED = join(ROOT, '../shared/data');

let rig: ProcessRig;
let server: ServerProcess;
let token: string;
let databaseUrl: string;

beforeAll(async () => {
  rig = createProcessRig();
  const dataDir = join(await rig.folder(), 'data');
  server = await rig.serve({ HOLDFAST_DATA_DIR: dataDir });
  token = await adminToken(dataDir);
  databaseUrl = await embeddedUrl(dataDir);
});
afterAll(() => rig.close());

async function importGraph(source: string, ...options: string[]) {
  const command = rig.run(['import', source, ...options], { HOLDFAST_URL: server.url, HOLDFAST_TOKEN: token });
  const { code } = await command.exited;
  return { code, said: command.output().trimEnd().split('\n').at(-1) };
}
const read = <Row extends object>(text: string) => withSql(databaseUrl, (sql) => sql<Row>(text));

it('takes statuses as given, makes people, and keeps edges to nodes that are not known', async () => {
  expect(await importGraph(SMALL_GRAPH)).toEqual({
    ...{ code: 0, said: 'created 4, updated 0, already there 0, not taken 0' },
  });
  expect(await read('SELECT node_id, status FROM work_node ORDER BY node_id')).toEqual([
    { node_id: 'issue-rusty-hinge', status: 'waiting-for-parts' },
    { node_id: 'person-iris', status: null },
    { node_id: 'task-old-lamp', status: 'done' },
    { node_id: 'task-paint-door', status: 'in-progress' },
  ]);
  expect(await read('SELECT from_id, type, to_id FROM edge ORDER BY from_id, type')).toEqual([
    { from_id: 'issue-rusty-hinge', type: 'relates-to', to_id: 'task-of-another-graph' },
    { from_id: 'task-paint-door', type: 'assigned', to_id: 'person-iris' },
    { from_id: 'task-paint-door', type: 'blocks', to_id: 'issue-rusty-hinge' },
  ]);
  expect(await read(`SELECT name FROM person WHERE person_id = 'person-iris'`)).toEqual([{ name: 'Iris' }]);
  expect(await read('SELECT count(*)::int AS held FROM lease WHERE holder IS NOT NULL')).toEqual([{ held: 0 }]);
});

it('changes nothing when it is repeated, and removes no edge that a claim wrote', async () => {
  const tokens = await makePeople(server.url, token, ['theo']);
  const claimed = await callOnce(server.url, tokens.get('theo') as string, 'POST', '/v1/nodes/task-paint-door/claim');
  expect(claimed).toMatchObject({ status: 200, body: { edge: 'added' } });
  const before = await withSql(databaseUrl, everything);
  expect(await importGraph(SMALL_GRAPH)).toMatchObject({
    ...{ code: 0, said: 'created 0, updated 0, already there 4, not taken 0' },
  });
  expect(await withSql(databaseUrl, everything)).toEqual(before);
  expect((await importGraph(SMALL_GRAPH, '--if-exists', 'update')).code).toBe(0);
  expect(await withSql(databaseUrl, everything)).toEqual(before);
  expect(before.edge).toContainEqual(expect.objectContaining({ from_id: 'task-paint-door', to_id: 'theo' }));
});

it.skipIf(!existsSync(HANDED)).each([
  ['live-shape', 343],
  ['meridian', 39],
])('takes the handed graph %s whole (skipped where ../shared/data is not there)', async (graph, nodes) => {
  expect(await importGraph(join(HANDED, graph, 'nodes'))).toEqual({
    ...{ code: 0, said: `created ${nodes}, updated 0, already there 0, not taken 0` },
  });
});

/** All rows of all tables, without the times at which tokens were used. */
async function everything(sql: Sql): Promise<Record<string, object[]>> {
  const tables = await sql<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`,
  );
  const rows: Record<string, object[]> = {};
  for (const { name } of tables) {
    const found = await sql<{ row: object }>(`SELECT to_jsonb(t) - 'last_used_at' AS row FROM "${name}" t ORDER BY 1`);
    rows[name] = found.map(({ row }) => row);
  }
  return rows;
}
