import { afterEach, expect, it } from 'vitest';
import { createKillRig, type DatabaseKind, type KillRig } from '../support/kill-rig.ts';

/** `kill -9` of the server, at any moment, loses no answered change. The database goes on, and is found again. */
const ROUNDS = 10;
const KINDS: readonly DatabaseKind[] = ['the embedded database', 'a PostgreSQL server'];

let rig: KillRig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

it.each(KINDS)('holds every answer after ten kills of the server, on %s', { timeout: 180_000 }, async (kind) => {
  rig = await createKillRig(kind);
  const certain = { answered: 0, leases: 0, ends: 0 };
  for (let round = 1; round <= ROUNDS; round += 1) {
    const traffic = await rig.startTraffic();
    await traffic.reach(100 + rig.below(900), 200);
    const { inFlight } = traffic;
    await Promise.all([rig.killServer(), traffic.stop()]);
    await rig.startServer();
    const { faults, ...found } = await rig.look(traffic);

    expect(faults).toEqual([]);
    expect(inFlight).toBeGreaterThanOrEqual(200);
    for (const name of ['answered', 'leases', 'ends'] as const) certain[name] += found[name];
  }
  // What a check can't be certain of it excuses; it must not have excused everything.
  expect(certain.leases).toBeGreaterThan(ROUNDS);
  expect(certain.ends).toBeGreaterThan(ROUNDS);
  console.info(kind, certain);
});
