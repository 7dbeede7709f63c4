import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renewHeld } from '../../src/engine/held.ts';
import { createExpiry } from '../../src/events/expiry.ts';
import { claim, renew } from '../support/commands.ts';
import { ana, bo, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';

let rig: EngineRig;
let now = Date.UTC(2030, 0, 1);
const TTL = 21_000;
const log = { warn: () => {} };

beforeAll(async () => {
  rig = await createEngineRig();
  await rig.database.clock.stopAt(now);
  await rig.database.sql(`INSERT INTO policy (tenant_id, project, claim_ttl_ms) VALUES ($1, '', $2)`, TENANT, TTL);
});
afterAll(() => rig.close());

async function pass(ms: number): Promise<void> {
  now += ms;
  await rig.database.clock.stopAt(now);
}

const ids = (count: number, name: string) => Array.from({ length: count }, (_, index) => `${name}-${index}`);

describe('B36: 10,000 leases of one person beside 500 people with one each', () => {
  const mine = ids(10_000, 'mine');
  const theirs = ids(500, 'theirs').map((nodeId, index) => ({ nodeId, caller: { person: `p${index}`, agent: null } }));

  it('all are renewed each third of their time, the tail as surely as the head, and none lapses', async () => {
    await rig.addNodes([...mine, ...theirs.map(({ nodeId }) => nodeId)]);
    await rig.engine.execute(
      TENANT,
      mine.map((nodeId) => claim(nodeId, ana)),
    );
    await Promise.all(theirs.map(({ nodeId, caller }) => rig.engine.executeOne(TENANT, claim(nodeId, caller))));
    const expiry = createExpiry({ engine: rig.engine, reads: rig.clients.reads, log });
    for (let round = 0; round < 6; round += 1) {
      await pass(TTL / 3);
      const [held, singles, swept] = await Promise.all([
        renewHeld(rig.engine, rig.clients.reads, TENANT, ana, { session: null, project: null }),
        Promise.all(theirs.map(({ nodeId, caller }) => rig.engine.executeOne(TENANT, renew(nodeId, caller)))),
        expiry.runOnce(),
      ]);
      expect(held.answers).toHaveLength(10_000);
      expect(new Set(held.answers.map(({ outcome }) => outcome.kind))).toEqual(new Set(['held']));
      expect(singles.every((outcome) => outcome.kind === 'held' && !outcome.reclaimed)).toBe(true);
      expect(swept.lapsed).toBe(0);
    }
    const [row] = await rig.database.sql(
      'SELECT count(*)::int AS held, count(DISTINCT expires_at)::int AS ends, min(holdfast_ms(expires_at))::text AS soonest FROM lease WHERE holder IS NOT NULL',
    );
    expect(row).toEqual({ held: 10_500, ends: 1, soonest: String(now + TTL) });
    expect(await rig.database.sql(`SELECT kind FROM lease_event WHERE kind <> 'CLAIMED'`)).toEqual([]);
  });
});

describe('B38: 20,000 leases that end at one moment', () => {
  const all = ids(20_000, 'mass');

  it('are free to claim at once, swept or not, and each ends once', async () => {
    await rig.database.sql(`UPDATE policy SET held_max = 1000000`);
    await rig.addNodes(all);
    await rig.engine.execute(
      TENANT,
      all.map((nodeId) => claim(nodeId, ana)),
    );
    await pass(TTL);
    const taken = [...all.slice(0, 50), ...all.slice(-50)];
    const expiry = createExpiry({ engine: rig.engine, reads: rig.clients.reads, log });
    const [claims, sweep] = await Promise.all([
      Promise.all(taken.map((nodeId) => rig.engine.executeOne(TENANT, claim(nodeId, bo)))),
      expiry.runOnce(),
    ]);
    expect(claims.every((outcome) => outcome.kind === 'held' && outcome.lease.holder === 'bo')).toBe(true);
    expect(sweep.lapsed).toBeGreaterThan(19_000);
    const [row] = await rig.database.sql(
      `SELECT count(*)::int AS events, count(DISTINCT node_id)::int AS nodes
       FROM lease_event WHERE kind = 'EXPIRED' AND node_id LIKE 'mass-%'`,
    );
    expect(row).toEqual({ events: 20_000, nodes: 20_000 });
  });
});
