import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LeaseJson } from '../../src/rest/wire.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { createDice, seedOfThisRun } from '../support/random.ts';
import { createRestClient, makePeople, makeTasks, type RestClient } from '../support/rest-client.ts';
import { createProcessRig, type ProcessRig } from '../support/server-process.ts';

/** Two server processes on one PostgreSQL are one server to their callers. */
const TOKEN = `hf_local_${'t'.repeat(43)}`;
const PEOPLE = Array.from({ length: 200 }, (_, index) => `person-${index}`);
const TASKS = Array.from({ length: 100 }, (_, index) => `task-${String(index).padStart(3, '0')}`);

let rig: ProcessRig;
let postgres: PostgresServer;
let servers: readonly RestClient[];
let tokens: ReadonlyMap<string, string>;

beforeAll(async () => {
  rig = createProcessRig();
  postgres = await startPostgres(rig);
  const environment = { DATABASE_URL: postgres.url, HOLDFAST_ADMIN_TOKEN: TOKEN };
  const [one, other] = await Promise.all([rig.serve(environment), rig.serve(environment)]);
  servers = [createRestClient(one.url), createRestClient(other.url)];
  tokens = await makePeople(one.url, TOKEN, PEOPLE);
  await makeTasks(other.url, TOKEN, [...TASKS, 'task-raced']);
});
afterAll(async () => {
  for (const server of servers ?? []) server.close();
  await rig.close();
});

const call = (index: number, person: string, path: string, body: object = {}) =>
  (servers[index % 2] as RestClient).call(tokens.get(person) as string, 'POST', path, body);

it('lets one of two hundred racing people claim a node, and tells all others who has it and until when', async () => {
  const replies = await Promise.all(PEOPLE.map((person, index) => call(index, person, '/v1/nodes/task-raced/claim')));
  const winners = replies.filter(({ status }) => status === 200);
  expect(winners).toHaveLength(1);
  const [{ by, expires, fence }] = winners.map(({ body }) => body.lease) as [LeaseJson];
  const refused = replies.filter(({ status }) => status !== 200);
  expect(refused.map(({ status, body }) => [status, body.error.code, body.holder.by, body.holder.expires])).toEqual(
    Array.from({ length: 199 }, () => [409, 'conflict', by, expires]),
  );
  expect(refused.every(({ headers }) => Number(headers['retry-after']) >= 1)).toBe(true);
  expect(fence).toBe('1');
});

it('answers every item of bulk calls that go in opposite orders, with no deadlock', { timeout: 60_000 }, async () => {
  const dice = createDice(seedOfThisRun());
  const callers = PEOPLE.slice(0, 12);
  const orders = callers.map((_, index) => (index % 2 === 0 ? TASKS : TASKS.toReversed()));

  for (let round = 0; round < 15; round += 1) {
    const replies = await Promise.all(
      callers.map((person, index) => {
        const verb = dice.pick(['claim', 'claim', 'renew', 'release'] as const);
        const ids = dice.chance(0.5) ? orders[index] : dice.shuffle(TASKS);
        return call(dice.below(2), person, `/v1/queue/${verb}`, verb === 'release' ? {} : { ids });
      }),
    );
    expect(replies.map(({ status, body }) => [status, body.error])).toEqual(callers.map(() => [200, undefined]));
    for (const { body } of replies.filter(({ body: { status } }) => status !== 'released')) {
      const landed: string[] = body.claimed ?? body.renewed;
      const failed: string[] = body.failed.map((item: { node_id: string }) => item.node_id);
      expect([...landed, ...failed].sort()).toEqual(TASKS);
    }
  }
  // The counter in pg_stat_database lags by seconds; the log does not.
  expect(await postgres.log()).not.toMatch(/deadlock detected/);
});
