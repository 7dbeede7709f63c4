import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRetention } from '../../src/events/retention.ts';
import { listEvents } from '../../src/read/lease-events.ts';
import { claim, release } from '../support/commands.ts';
import { ana, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';

let rig: EngineRig;
const START = Date.UTC(2030, 0, 1);
const log = { warn: () => {} };
beforeAll(async () => {
  rig = await createEngineRig();
  await rig.database.clock.stopAt(START);
  const ids = Array.from({ length: 1_300 }, (_, index) => `n${index}`);
  await rig.addNodes(ids);
  await rig.engine.execute(
    TENANT,
    ids.map((id) => claim(id, ana)),
  );
  await rig.database.clock.stopAt(START + 60_000);
  await rig.engine.execute(
    TENANT,
    ids.map((id) => release(id, ana)),
  );
});
afterAll(() => rig.close());

const oldest = async () => (await listEvents(rig.clients.reads, TENANT, 0n, {}, 1)).oldestSeq;

it('keeps what neither count nor age forgets', async () => {
  const retention = createRetention({ client: rig.clients.reads, mostEvents: 2_600, longestAgeMs: 60_000, log });
  expect(await retention.runOnce()).toBe(0);
  expect(await oldest()).toBe(1n);
});

it('forgets by count, in steps, and readers are told of the gap', async () => {
  const retention = createRetention({ client: rig.clients.reads, mostEvents: 1_400, longestAgeMs: 86_400_000, log });
  expect(await retention.runOnce()).toBe(1_200);
  expect(await oldest()).toBe(1_201n);
  const page = async (after: bigint) => listEvents(rig.clients.reads, TENANT, after, {}, 1);
  expect(await page(0n)).toMatchObject({ gap: true, events: [{ seq: 1_201n }], oldestSeq: 1_201n, latestSeq: 2_600n });
  expect(await page(1_199n)).toMatchObject({ gap: true });
  expect(await page(1_200n)).toMatchObject({ gap: false, events: [{ seq: 1_201n }] });
  expect(await page(2_600n)).toMatchObject({ gap: false, events: [], hasMore: false });
});

it('forgets by age, and never what is as old as may be', async () => {
  const retention = createRetention({ client: rig.clients.reads, mostEvents: 1_000_000, longestAgeMs: 59_999, log });
  expect(await retention.runOnce()).toBe(100);
  expect(await oldest()).toBe(1_301n);
  await rig.database.clock.stopAt(START + 10 * 60_000);
  expect(await retention.runOnce()).toBe(1_300);
  expect(await listEvents(rig.clients.reads, TENANT, 5n, {}, 10)).toMatchObject({
    gap: true,
    oldestSeq: 2_601n,
    latestSeq: 2_600n,
  });
});
