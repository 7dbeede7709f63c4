import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import { claim, expire, nodeIds, renew } from '../support/commands.ts';
import { createPausePoints, passed } from '../support/pause-points.ts';
import { ana, bo, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';
import { lockLeaseRow } from '../support/row-lock.ts';

/** The clock that counts is the database's, read after the node's lock is held. */
const START = Date.UTC(2030, 0, 1);
const TTL = DEFAULT_POLICY.claimTtlMs;

describe.each([5, 100_000])('B03: on a table of %i rows', (rows) => {
  const points = createPausePoints();
  let rig: EngineRig;
  beforeAll(async () => {
    rig = await createEngineRig({ pause: points.pause });
    await rig.addNodes(nodeIds(rows));
  });
  afterAll(() => rig.close());

  it('a lease that lapses while its renewal waits for the row counts as lapsed', async () => {
    await rig.database.clock.stopAt(START);
    const [nodeId] = nodeIds(1) as [string];
    await rig.engine.executeOne(TENANT, claim(nodeId, ana));
    const lock = await lockLeaseRow(rig.database, nodeId);
    const tried = passed(points, 'committed', nodeId);
    const answer = rig.engine.executeOne(TENANT, renew(nodeId, ana));
    await tried;
    await rig.database.clock.stopAt(START + TTL);
    await lock.letGo();
    expect(await answer).toMatchObject({
      status: 'renewed',
      reclaimed: true,
      lease: { fence: 2n, claimedAt: START + TTL, expiresAt: START + 2 * TTL, expiresInMs: TTL },
    });
    expect(await eventsOf(rig, nodeId)).toEqual(['CLAIMED 1', 'EXPIRED 1', 'RECLAIMED 2']);
  });

  it('a claim that waited for the row longer than the TTL runs a full TTL from the moment it was written', async () => {
    const [, nodeId] = nodeIds(2) as [string, string];
    await rig.database.clock.stopAt(START);
    const lock = await lockLeaseRow(rig.database, nodeId);
    const tried = passed(points, 'committed', nodeId);
    const answer = rig.engine.executeOne(TENANT, claim(nodeId, bo));
    await tried;
    const written = START + 2 * TTL + 1;
    await rig.database.clock.stopAt(written);
    await lock.letGo();
    expect(await answer).toMatchObject({ lease: { claimedAt: written, expiresAt: written + TTL, expiresInMs: TTL } });
  });

  it("a claim that met ana's lapsed and locked row takes it when her transaction ends without a lease", async () => {
    const [, , nodeId] = nodeIds(3) as [string, string, string];
    await rig.database.clock.stopAt(START);
    await rig.engine.executeOne(TENANT, claim(nodeId, ana));
    await rig.database.clock.stopAt(START + TTL);
    const lock = await lockLeaseRow(rig.database, nodeId);
    const tried = passed(points, 'committed', nodeId);
    const answer = rig.engine.executeOne(TENANT, claim(nodeId, bo));
    await tried;
    await rig.database.clock.stopAt(START + 2 * TTL);
    await lock.letGo();
    expect(await answer).toMatchObject({ lease: { holder: 'bo', fence: 2n, expiresAt: START + 3 * TTL } });
    expect(await eventsOf(rig, nodeId)).toEqual(['CLAIMED 1', 'EXPIRED 1', 'CLAIMED 2']);
  });
});

describe('B01: a process whose clock is wrong', () => {
  let rig: EngineRig;
  beforeAll(async () => {
    rig = await createEngineRig();
    await rig.addNodes(nodeIds(2));
    await rig.database.sql(`INSERT INTO policy (tenant_id, project, claim_ttl_ms) VALUES ('${TENANT}', '', 60000)`);
  });
  afterEach(() => vi.useRealTimers());
  afterAll(() => rig.close());

  it.each([
    ['an hour ahead', 3_600_000, 'n00001'],
    ['an hour behind', -3_600_000, 'n00002'],
  ])('%s ends a lease at the 60th second of database time, once', async (_, shift, nodeId) => {
    const { clock } = rig.database;
    await clock.stopAt(START);
    const first = await rig.engine.executeOne(TENANT, claim(nodeId, ana));
    vi.useFakeTimers({ toFake: ['Date'], now: START + shift });
    expect(first).toMatchObject({ lease: { fence: 1n, expiresAt: START + 60_000, expiresInMs: 60_000 } });
    await clock.stopAt(START + 59_999);
    expect(await rig.engine.executeOne(TENANT, claim(nodeId, bo))).toMatchObject({
      code: 'conflict',
      holder: { holder: 'ana', expiresAt: START + 60_000 },
    });
    expect(await rig.engine.executeOne(TENANT, expire(nodeId, 1n))).toMatchObject({ found: 'alive' });
    await clock.stopAt(START + 60_000);
    expect(await rig.engine.executeOne(TENANT, expire(nodeId, 1n))).toMatchObject({ found: 'lapsed' });
    expect(await rig.engine.executeOne(TENANT, expire(nodeId, 1n))).toMatchObject({ found: 'gone' });
    expect(await eventsOf(rig, nodeId)).toEqual(['CLAIMED 1', 'EXPIRED 1']);
    const [event] = await rig.database.sql<{ at: Date }>(
      `SELECT at FROM lease_event WHERE node_id = $1 AND kind = 'EXPIRED'`,
      nodeId,
    );
    expect(event?.at.getTime()).toBe(START + 60_000);
  });
});

async function eventsOf(rig: EngineRig, nodeId: string): Promise<string[]> {
  const events = await rig.database.sql<{ told: string }>(
    `SELECT kind || ' ' || fence AS told FROM lease_event WHERE node_id = $1 ORDER BY seq`,
    nodeId,
  );
  return events.map(({ told }) => told);
}
