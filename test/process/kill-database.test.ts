import { afterEach, expect, it } from 'vitest';
import { createKillRig, type DatabaseKind, type KillRig } from '../support/kill-rig.ts';

/**
 * `kill -9` of the database under a running server loses no answered change. While it is away callers are told to come
 * back; after it the same server answers again.
 */
const ROUNDS = 10;
const KINDS: readonly DatabaseKind[] = ['the embedded database', 'a PostgreSQL server'];

let rig: KillRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

it.each(KINDS)('holds every answer after ten kills of the database, on %s', { timeout: 180_000 }, async (kind) => {
  rig = await createKillRig(kind);
  const { pid } = rig.server;
  const certain = { answered: 0, leases: 0, ends: 0, putOff: 0 };
  for (let round = 1; round <= ROUNDS; round += 1) {
    const traffic = await rig.startTraffic();
    await traffic.reach(100 + rig.below(900), 200);
    const { inFlight } = traffic;
    await rig.killDatabase();
    await rig.databaseIsBack();
    await traffic.reach(100);
    await traffic.stop();
    const { faults, ...found } = await rig.look(traffic);

    expect(faults).toEqual([]);
    expect(inFlight).toBeGreaterThanOrEqual(200);
    expect(traffic.putOff).toBeGreaterThan(0);
    for (const name of ['answered', 'leases', 'ends'] as const) certain[name] += found[name];
    certain.putOff += traffic.putOff;
  }
  expect(rig.server.pid).toBe(pid);
  expect(certain.leases).toBeGreaterThan(ROUNDS);
  expect(certain.ends).toBeGreaterThan(ROUNDS);
  console.info(kind, certain);
});
