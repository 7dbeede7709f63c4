import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../../src/db/migrate.ts';
import { examine, NO_FAULTS } from '../support/answered-history.ts';
import { lookInto, type TestDatabase } from '../support/database.ts';
import { createFaultRig, type FaultRig, TENANT } from '../support/fault-rig.ts';
import { DOCUMENTS } from '../support/graphql-documents.ts';
import { startTraffic } from '../support/lease-traffic.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { createProcessRig, type ProcessRig } from '../support/server-process.ts';
import { until } from '../support/until.ts';

/**
 * PostgreSQL is stopped and started under traffic by both doors. While it is away every call is put off, and nothing is
 * worse than that; when it is back the same server answers again.
 */
const PEOPLE = ['ana', 'bo', 'cleo', 'dan', 'eve', 'flo'];
const PLACES = Array.from({ length: 40 }, (_, index) => index);

let processes: ProcessRig;
let postgres: PostgresServer;
let database: TestDatabase;
let rig: FaultRig;
beforeAll(async () => {
  processes = createProcessRig();
  postgres = await startPostgres(processes);
  await migrate(postgres.url);
  database = lookInto(postgres.url);
  rig = await createFaultRig({ database, people: PEOPLE });
  await rig.addTasks(
    TENANT,
    PEOPLE.map((person) => `own-${person}`),
  );
});
afterAll(async () => {
  await rig?.close();
  await processes.close();
});

it.each(['fast', 'immediate'] as const)('calls are put off while the database is stopped, by %s', async (mode) => {
  const { url, tokens, dice } = rig;
  const nodes = PLACES.map((place) => `${mode}-${place}`);
  await rig.addTasks(TENANT, nodes);
  const file = join(await processes.folder(), 'answers.jsonl');
  const traffic = startTraffic({ url, tokens, nodes, callers: 40, dice, file });
  const graphql = startGraphql();
  await traffic.reach(100, 20);
  await postgres.stop(mode);
  await until('calls are put off', () => traffic.putOff > 40 && graphql.putOff > 10);
  await expectAway();

  await postgres.start();
  await until('the server is ready again', async () => (await get('/readyz')).status === 200);
  await traffic.reach(200);
  await traffic.stop();
  await graphql.stop();

  const { faults, counts } = await examine(traffic, database, nodes);
  console.info(`seed ${rig.seed}: ${graphql.putOff} put off by GraphQL`, counts);
  expect(faults).toEqual(NO_FAULTS);
  expect([...graphql.wrong, ...rig.faults]).toEqual([]);
  expect(counts.leases).toBeGreaterThan(3);
});

const get = (path: string) => rig.rest('', path, undefined, 'GET');

/** What a caller of either door and a probe are told while there is no database. */
async function expectAway(): Promise<void> {
  const ana = rig.tokens.get('ana') as string;
  const ready = await get('/readyz');
  expect([ready.status, ready.body.error.code]).toEqual([503, 'unavailable']);
  expect((await get('/livez')).status).toBe(200);
  const rest = await rig.rest(ana, '/v1/nodes/own-ana/claim');
  expect([rest.status, rest.body.error.code]).toEqual([503, 'unavailable']);
  const graphql = await rig.graphql(ana, '{ viewer { isAdmin } }');
  expect([graphql.status, graphql.body.errors[0].extensions.code]).toEqual([503, 'UNAVAILABLE']);
  for (const { headers } of [ready, rest, graphql]) expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
}

/** Each person claims and releases a node of their own, and may find what an unanswered call has left. */
function startGraphql() {
  const wrong: string[] = [];
  let [running, putOff] = [true, 0];
  async function caller(person: string): Promise<void> {
    const nodeId = `own-${person}`;
    for (let turn = 0; running; turn += 1) {
      const field = turn % 2 === 0 ? 'claimLease' : 'releaseLease';
      const document = DOCUMENTS[field] as string;
      const { body } = await rig.graphql(rig.tokens.get(person) as string, document, { input: { nodeId } });
      const code = body.errors?.[0]?.extensions?.code;
      if (code === 'UNAVAILABLE') putOff += 1;
      else if (body.errors !== undefined || body.data[field].code !== undefined) wrong.push(JSON.stringify(body));
      // Far sooner than it says, to be there in every moment of the outage.
      if (code !== undefined) await pause(20);
    }
  }
  const all = Promise.all(PEOPLE.map(caller));
  return {
    wrong,
    get putOff() {
      return putOff;
    },
    async stop() {
      running = false;
      await all;
    },
  };
}
