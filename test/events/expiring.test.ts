import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createExpiring, type Expiring } from '../../src/events/expiring.ts';
import { claim, extend, renew } from '../support/commands.ts';
import { ana, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';
import { until } from '../support/until.ts';

/** Passes by hand, on a clock that stands still: what a pass marks, and what is told of it. */
let rig: EngineRig;
let expiring: Expiring;
let now = Date.UTC(2030, 0, 1);
const MINUTE = 60_000;
const ended = { done: true, value: undefined };

beforeAll(async () => {
  rig = await createEngineRig();
  expiring = createExpiring({ reads: rig.clients.reads, log: { warn: () => {} } });
  await rig.database.clock.stopAt(now);
});
afterAll(() => rig.close());
// Whatever a test before held has ended.
beforeEach(() => pass(60 * MINUTE));

async function pass(ms: number): Promise<void> {
  now += ms;
  await rig.database.clock.stopAt(now);
}

const watch = () => expiring.watch({ tenantId: TENANT, person: ana.person, session: null, withinMs: 5 * MINUTE });

it('marks a lease at the very moment, and says when the next one is due', async () => {
  await rig.addNodes(['n1']);
  await rig.engine.executeOne(TENANT, claim('n1', ana));
  const notices = watch();
  const next = notices.next();
  expect(await expiring.runOnce()).toBe(1_000);
  await pass(40 * MINUTE - 300);
  expect(await expiring.runOnce()).toBe(300);
  await pass(300);
  expect(await expiring.runOnce()).toBe(1_000);
  expect((await next).value).toMatchObject({ nodeId: 'n1', fence: 1n, expiresInMs: 5 * MINUTE });
  await notices.return?.();
});

it('reads again before it tells, so that a renewal silences what was marked', async () => {
  await rig.addNodes(['n2', 'n3', 'n4']);
  for (const id of ['n2', 'n3', 'n4']) await rig.engine.executeOne(TENANT, claim(id, ana));
  await pass(41 * MINUTE);
  const notices = watch();
  const first = notices.next();
  await expiring.runOnce();
  expect((await first).value).toMatchObject({ nodeId: 'n2' });
  await rig.engine.executeOne(TENANT, renew('n3', ana));
  const readAt = performance.now();
  await until('what was read is old', () => performance.now() - readAt > 150);
  expect((await notices.next()).value).toMatchObject({ nodeId: 'n4' });
  await notices.return?.();
});

it('tells the end that a lease has by now, also where it was marked with another', async () => {
  await rig.addNodes(['n5', 'n6']);
  for (const id of ['n5', 'n6']) await rig.engine.executeOne(TENANT, claim(id, ana));
  await pass(42 * MINUTE);
  const notices = watch();
  const first = notices.next();
  await expiring.runOnce();
  expect((await first).value).toMatchObject({ nodeId: 'n5' });
  await rig.engine.executeOne(TENANT, extend('n6', ana, MINUTE));
  const readAt = performance.now();
  await until('what was read is old', () => performance.now() - readAt > 150);
  const second = notices.next();
  await expiring.runOnce();
  expect((await second).value).toMatchObject({ nodeId: 'n6', expiresInMs: 4 * MINUTE });
  await notices.return?.();
});

it('finds all leases of all people, however many statements that takes, each once', async () => {
  const paged = createExpiring({ reads: rig.clients.reads, log: { warn: () => {} }, page: 2 });
  const people = Array.from({ length: 45 }, (_, index) => `p${index}`);
  const ids = people.flatMap((person) => [1, 2, 3].map((each) => `${person}-${each}`));
  await rig.addNodes(ids);
  const claims = ids.map((id) => claim(id, { person: id.split('-')[0] as string, agent: null }));
  await rig.engine.execute(TENANT, claims);
  await pass(41 * MINUTE);
  const all = people.map((person) => paged.watch({ tenantId: TENANT, person, session: null, withinMs: 5 * MINUTE }));
  const firsts = all.map((notices) => notices.next());
  await paged.runOnce();
  const told = await Promise.all(
    all.map(async (notices, index) => {
      const three = [await firsts[index], await notices.next(), await notices.next()];
      const more = notices.next();
      await paged.runOnce();
      await notices.return?.();
      expect(await more).toEqual(ended);
      return three.map((notice) => notice?.value.nodeId);
    }),
  );
  expect(told.flat()).toEqual(ids);
});

it('leaves nothing behind when its watchers go, also while they wait', async () => {
  const [waiting, unasked] = [watch(), watch()];
  const next = waiting.next();
  expect(expiring.watchers).toBe(1);
  await Promise.all([waiting.return?.(), unasked.return?.()]);
  expect(await next).toEqual(ended);
  expect(await unasked.next()).toEqual(ended);
  expect(expiring.watchers).toBe(0);
});

it('goes on after a pass that failed, and tells each end once', async () => {
  await rig.addNodes(['n7']);
  await rig.engine.executeOne(TENANT, claim('n7', ana));
  await pass(41 * MINUTE);
  const notices = watch();
  const next = notices.next();
  await rig.database.sql('ALTER TABLE lease RENAME TO lease_away');
  await expect(expiring.runOnce()).rejects.toThrow();
  await rig.database.sql('ALTER TABLE lease_away RENAME TO lease');
  await expiring.runOnce();
  expect((await next).value).toMatchObject({ nodeId: 'n7' });
  const more = notices.next();
  await expiring.runOnce();
  await notices.return?.();
  expect(await more).toEqual(ended);
});
