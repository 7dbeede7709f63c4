import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import { claim, expire, extend, release, renew } from '../support/commands.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { ana, anasAgent, bo, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';

/** Calls that come twice, late, or after somebody else took over, with the rows they leave. */
const START = Date.UTC(2030, 0, 1);
const TTL = DEFAULT_POLICY.claimTtlMs;

let rig: EngineRig;
let nodeId: string;
let made = 0;
beforeAll(async () => {
  rig = await createEngineRig();
});
beforeEach(async () => {
  made += 1;
  nodeId = `n${made}`;
  await rig.addNodes([nodeId]);
  await rig.database.clock.stopAt(START);
});
afterEach(async () => {
  expect(await brokenInvariants(rig.database)).toEqual({});
});
afterAll(() => rig.close());

const run = (command: Parameters<EngineRig['engine']['executeOne']>[1]) => rig.engine.executeOne(TENANT, command);

describe('B15: an old holder who releases after a takeover', () => {
  beforeEach(async () => {
    await run(claim(nodeId, ana, { session: 'old' }));
    await rig.database.clock.stopAt(START + TTL);
  });

  it("is refused, alone and in bulk, and leaves bo's lease, edge and fence", async () => {
    await run(claim(nodeId, bo));
    const before = await rowsOf(nodeId);
    const refused = { code: 'conflict', holder: { holder: 'bo', fence: 2n } };
    expect(await run(release(nodeId, ana))).toMatchObject(refused);
    expect(await run(release(nodeId, ana, 1n))).toMatchObject(refused);
    expect(await rig.engine.execute(TENANT, [release(nodeId, ana), release('none', ana)])).toMatchObject([
      refused,
      { code: 'not_found' },
    ]);
    expect(await rowsOf(nodeId)).toEqual(before);
    expect(before.edges).toEqual(['ana', 'bo']);
  });

  it('does not end the newer lease of the same person when the release names its fence', async () => {
    await run(claim(nodeId, ana, { session: 'new' }));
    const before = await rowsOf(nodeId);
    expect(await run(release(nodeId, ana, 1n))).toMatchObject({ code: 'lease_lost', holder: { fence: 2n } });
    expect(await rowsOf(nodeId)).toEqual(before);
    expect(before.lease).toMatchObject({ holder: 'ana', session: 'new', fence: '2' });
  });
});

it('B16: a release that is sent three times succeeds each time and closes lease and edge once', async () => {
  await run(claim(nodeId, ana));
  const answers = [await run(release(nodeId, ana)), await run(release(nodeId, ana))];
  await rig.database.clock.stopAt(START + TTL);
  answers.push(await run(release(nodeId, ana, 1n)));
  expect(answers).toEqual([
    { kind: 'released', edge: 'removed', ended: true },
    { kind: 'released', edge: 'skipped', ended: false },
    { kind: 'released', edge: 'skipped', ended: false },
  ]);
  expect(await rowsOf(nodeId)).toMatchObject({ edges: [], events: ['CLAIMED 1', 'RELEASED 1'] });
});

it('B16: a release after the end takes the lingering edge away and says that nothing was ended', async () => {
  await run(claim(nodeId, ana));
  await rig.database.clock.stopAt(START + TTL);
  expect(await run(release(nodeId, ana))).toEqual({ kind: 'released', edge: 'removed', ended: false });
  expect(await rowsOf(nodeId)).toMatchObject({ edges: [], events: ['CLAIMED 1', 'EXPIRED 1'] });
});

it.each([
  ['with the same nonce', { dispatch: 'd1' }],
  ['without a nonce', {}],
  ['from another session', { session: 's2' }],
])('B17: a claim whose answer was lost succeeds again %s, with the same fence and one edge', async (_, again) => {
  await run(claim(nodeId, ana, { dispatch: 'd1', session: 's1' }));
  await rig.database.clock.stopAt(START + 1_000);
  const answer = await run(claim(nodeId, anasAgent, again));
  expect(answer).toMatchObject({ status: 'claimed', edge: 'skipped', lease: { fence: 1n, holder: 'ana' } });
  const { edges, events } = await rowsOf(nodeId);
  expect(edges).toEqual(['ana']);
  expect(events.filter((event) => event.startsWith('CLAIMED'))).toEqual(['CLAIMED 1']);
});

it('B22: a reclaim ends the dying lease first, and the pending sweep of it cannot end the new one', async () => {
  await run(claim(nodeId, ana));
  await rig.database.clock.stopAt(START + TTL);
  expect(await run(renew(nodeId, ana))).toMatchObject({ reclaimed: true, lease: { fence: 2n } });
  await rig.database.clock.stopAt(START + 3 * TTL);
  expect(await run(expire(nodeId, 1n))).toEqual({ kind: 'swept', found: 'gone' });
  expect(await rowsOf(nodeId)).toMatchObject({
    lease: { holder: 'ana', fence: '2' },
    events: ['CLAIMED 1', 'EXPIRED 1', 'RECLAIMED 2'],
  });
});

it('B24: the horizon that was written decides, not the policy of who comes later', async () => {
  const MINUTE = 60_000;
  await run(claim(nodeId, ana));
  await run(extend(nodeId, ana, 75 * MINUTE));
  await rig.database.sql(
    `INSERT INTO policy (tenant_id, project, claim_ttl_ms) VALUES ('${TENANT}', 'p1', ${5 * MINUTE})`,
  );
  await rig.database.clock.stopAt(START + 6 * MINUTE);
  const end = START + 120 * MINUTE;
  expect(await run(claim(nodeId, bo))).toMatchObject({ code: 'conflict', holder: { holder: 'ana', expiresAt: end } });
  expect(await run(renew(nodeId, ana))).toMatchObject({ reclaimed: false, lease: { expiresAt: end } });
  await rig.database.clock.stopAt(end - 1);
  expect(await run(renew(nodeId, ana))).toMatchObject({ lease: { expiresAt: end - 1 + 5 * MINUTE, fence: 1n } });
  await rig.database.sql('DELETE FROM policy');
});

it('B32: duplicate ids count each in its turn, by exact match only, with one edge and one event a node', async () => {
  await rig.addNodes([`${nodeId}-b`]);
  const ids = [nodeId, nodeId, `${nodeId}-b`, nodeId.toUpperCase(), ` ${nodeId}`];
  const answers = await rig.engine.execute(
    TENANT,
    ids.map((id) => claim(id, ana)),
  );
  expect(answers).toMatchObject([
    { status: 'claimed', edge: 'added', lease: { nodeId, fence: 1n } },
    { status: 'claimed', edge: 'skipped', lease: { nodeId, fence: 1n } },
    { status: 'claimed', edge: 'added', lease: { nodeId: `${nodeId}-b`, fence: 1n } },
    { code: 'invalid_input', field: 'nodeId' },
    { code: 'invalid_input', field: 'nodeId' },
  ]);
  for (const id of [nodeId, `${nodeId}-b`]) {
    expect(await rowsOf(id)).toMatchObject({ edges: ['ana'], events: ['CLAIMED 1'] });
  }
});

interface Rows {
  lease: Record<string, unknown>;
  /** Those the node is assigned to. */
  edges: string[];
  events: string[];
}

async function rowsOf(id: string): Promise<Rows> {
  const [row] = await rig.database.sql<Rows>(
    `SELECT (SELECT to_jsonb(l) || jsonb_build_object('fence', l.fence::text) FROM lease l WHERE node_id = $1) AS lease,
       ARRAY(SELECT to_id FROM edge WHERE from_id = $1 AND type = 'assigned' ORDER BY to_id)::text[] AS edges,
       ARRAY(SELECT kind || ' ' || fence FROM lease_event WHERE node_id = $1 ORDER BY seq)::text[] AS events`,
    id,
  );
  return row as Rows;
}
