import { afterAll, beforeAll, expect, it } from 'vitest';
import { claim, nodeIds, renew } from '../support/commands.ts';
import { ana, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';

/**
 * A heartbeat must stay an in-place update (HOT): no index entry is written, and old versions go without a vacuum. A
 * writing transaction that stays open anywhere on the server keeps old versions from going, also in another database;
 * other test files have some, so each round waits until those that began before the last one are over.
 */
const LEASES = nodeIds(1_000);

let rig: EngineRig;
beforeAll(async () => {
  rig = await createEngineRig({ poolSize: 1 });
  await rig.addNodes(LEASES);
  await rig.engine.execute(
    TENANT,
    LEASES.map((nodeId) => claim(nodeId, ana)),
  );
});
afterAll(() => rig.close());

it('more than 95 % of 20,000 heartbeats on 1,000 leases are in-place updates', async () => {
  const { updates, inPlace } = await updatesOf(() => heartbeats(20));
  expect(updates).toBeGreaterThan(19_000);
  expect(inPlace / updates).toBeGreaterThan(0.95);
});

it('and none would be with an index on the end of a lease', async () => {
  await rig.database.sql('CREATE INDEX ON lease (expires_at)');
  const { updates, inPlace } = await updatesOf(() => heartbeats(2));
  expect(updates).toBe(2_000);
  expect(inPlace).toBe(0);
});

let beats = 0;

/** Each round a second later, so that every heartbeat moves its lease's end. */
async function heartbeats(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    beats += 1;
    await olderTransactionsEnded();
    await rig.database.clock.runAhead(beats * 1_000);
    await rig.engine.execute(
      TENANT,
      LEASES.map((nodeId) => renew(nodeId, ana)),
    );
  }
}

async function olderTransactionsEnded(): Promise<void> {
  const [row] = await rig.database.sql<{ now: Date }>('SELECT clock_timestamp() AS now');
  const older = () =>
    rig.database.sql('SELECT FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND xact_start < $1', row?.now);
  while ((await older()).length > 0);
}

async function updatesOf(work: () => Promise<void>): Promise<{ updates: number; inPlace: number }> {
  const before = await counters();
  await work();
  const after = await counters();
  return { updates: after.updates - before.updates, inPlace: after.inPlace - before.inPlace };
}

async function counters(): Promise<{ updates: number; inPlace: number }> {
  await rig.clients.engine.$queryRawUnsafe('SELECT pg_stat_force_next_flush()::text');
  const [row] = await rig.database.sql<{ updates: string; in_place: string }>(
    `SELECT n_tup_upd AS updates, n_tup_hot_upd AS in_place FROM pg_stat_user_tables WHERE relname = 'lease'`,
  );
  return { updates: Number(row?.updates), inPlace: Number(row?.in_place) };
}
