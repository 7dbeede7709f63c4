import { afterEach, beforeEach, expect, it } from 'vitest';
import { startPostgres } from '../support/postgres-server.ts';
import { createRestClient } from '../support/rest-client.ts';
import { createProcessRig, type ProcessRig } from '../support/server-process.ts';
import { until } from '../support/until.ts';

/** A database out of reach: said plainly at start, lived through later. */
let rig: ProcessRig;
beforeEach(() => {
  rig = createProcessRig();
});
afterEach(() => rig.close());

const TOKEN = `hf_local_${'o'.repeat(43)}`;

it.each([
  ['a port where nothing listens', 'postgresql://ana:secret@127.0.0.1:1/holdfast', '127.0.0.1:1', 'ECONNREFUSED'],
  ['a folder without socket', 'postgresql://ana:secret@localhost/holdfast?host=/nowhere', '/nowhere:5432', 'ENOENT'],
])('ends a start on %s with its name and the reason, and no stack or secret', async (_what, url, name, reason) => {
  const start = rig.run(['serve'], { DATABASE_URL: url });
  expect((await start.exited).code).toBe(2);
  expect(start.output()).toMatch(new RegExp(`^holdfast: the database at ${name} can't be used: .*${reason}.*\\n$`));
  expect(start.output()).not.toMatch(/secret|\n {4}at /);
});

it('stays alive and not ready while its database is down, says 503 at both doors, and recovers by itself', async () => {
  const postgres = await startPostgres(rig);
  const server = await rig.serve({ DATABASE_URL: postgres.url, HOLDFAST_ADMIN_TOKEN: TOKEN });
  const client = createRestClient(server.url, 4);
  rig.defer(async () => client.close());
  const probe = async (path: string) => (await client.call('', 'GET', path)).status;
  const claim = () => client.call(TOKEN, 'POST', '/v1/nodes/task-1/claim');
  await client.call(TOKEN, 'POST', '/v1/nodes', { nodes: [{ id: 'task-1', type: 'task' }] });
  expect((await claim()).body.lease.fence).toBe('1');

  await postgres.kill();
  await until('the server is not ready', async () => (await probe('/readyz')) === 503);
  expect(await probe('/livez')).toBe(200);
  const refused = await claim();
  expect(refused).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  const graphql = await client.call(TOKEN, 'POST', '/graphql', { query: '{ viewer { isAdmin } }' });
  expect(graphql).toMatchObject({ status: 503, body: { errors: [{ extensions: { code: 'UNAVAILABLE' } }] } });
  expect(Number(graphql.headers['retry-after'])).toBeGreaterThanOrEqual(1);

  await postgres.start();
  await until('the server is ready again', async () => (await probe('/readyz')) === 200);
  expect(await claim()).toMatchObject({ status: 200, body: { status: 'claimed', lease: { fence: '1' } } });
});
