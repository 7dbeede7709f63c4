import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { examine, NO_FAULTS } from '../support/answered-history.ts';
import type { CuttingProxy } from '../support/cutting-proxy.ts';
import { BRIEF, createFaultRig, type FaultRig, TENANT } from '../support/fault-rig.ts';
import { startTraffic } from '../support/lease-traffic.ts';

/**
 * The connection is cut around COMMIT again and again, in four ways, under calls of every kind from several people.
 * Every caller gets a true answer or a 503 that says it is safe to repeat; the history stays whole; and afterwards all is
 * well without a restart.
 */
const PEOPLE = ['ana', 'bo', 'cleo', 'dan', 'eve', 'flo'];
const TASKS = Array.from({ length: 40 }, (_, index) => `task-${index}`);
const POOL = 4;

const WAYS: readonly (readonly [string, number, (proxy: CuttingProxy) => Promise<void>])[] = [
  ['the answer is lost', 40, (proxy) => proxy.loseNextCommit('answer')],
  ['the request is lost', 40, (proxy) => proxy.loseNextCommit('request')],
  ['the connection is silent after the commit', 12, (proxy) => proxy.loseNextCommit('answer', 'silence')],
  ['the connection is silent before the commit', 12, (proxy) => proxy.loseNextCommit('request', 'silence')],
  ['the answer is late', 40, (proxy) => proxy.delayNextCommit(100)],
  ['the answer is later than the limit', 12, (proxy) => proxy.delayNextCommit(1_300)],
];

let rig: FaultRig;
let folder: string;
afterEach(async () => {
  await rig.close();
  await rm(folder, { recursive: true, force: true });
});

it.each(WAYS)('every answer is true or safe to repeat when %s, %i times', async (_way, cuts, cutNext) => {
  rig = await createFaultRig({ poolSize: POOL, connection: BRIEF, people: PEOPLE });
  folder = await mkdtemp(join(tmpdir(), 'holdfast-faults-'));
  await rig.addTasks(TENANT, TASKS);
  const { url, tokens, dice, proxy, database } = rig;
  const file = join(folder, 'answers.jsonl');
  const traffic = startTraffic({ url, tokens, nodes: TASKS, callers: 60, dice, file });
  for (let cut = 0; cut < cuts; cut += 1) {
    await cutNext(proxy);
    await traffic.reach(1 + dice.below(30));
  }
  await traffic.stop();
  const { faults, counts } = await examine(traffic, database, TASKS);
  console.info(`seed ${rig.seed}: ${cuts} cuts`, counts);
  expect(faults).toEqual(NO_FAULTS);
  expect(rig.faults).toEqual([]);
  expect(counts.leases).toBeGreaterThan(3);
  expect(counts.refused).toBeGreaterThan(10);
  await expectAllWell();
});

/** A few calls of each kind at once are answered at once, on no more connections than the pools have. */
async function expectAllWell(): Promise<void> {
  const fresh = PEOPLE.map((person) => `fresh-${person}`);
  await rig.addTasks(TENANT, fresh);
  const before = rig.outages.length;
  const start = performance.now();
  for (const verb of ['claim', 'renew', 'release']) {
    const replies = await Promise.all(
      PEOPLE.map((person) => rig.rest(rig.tokens.get(person) as string, `/v1/nodes/fresh-${person}/${verb}`)),
    );
    expect(replies.map(({ status }) => status)).toEqual(PEOPLE.map(() => 200));
  }
  // None of them waited for a connection that is silent.
  expect(performance.now() - start).toBeLessThan(BRIEF.query_timeout);
  expect(rig.outages).toHaveLength(before);
  expect(rig.proxy.connections).toBeLessThanOrEqual(2 * POOL);
}
