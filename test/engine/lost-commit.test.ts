import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { Unavailable } from '../../src/engine/unavailable.ts';
import type { Command } from '../../src/lease/command.ts';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import { claim, nodeIds, release, renew } from '../support/commands.ts';
import { type CuttingProxy, createCuttingProxy } from '../support/cutting-proxy.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { ana, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';

/**
 * A COMMIT whose answer is lost may stand or not. Heartbeats run again, since they converge; every other call is told
 * that its outcome is unknown, and repeating it is safe either way.
 */
const START = Date.UTC(2030, 0, 1);
const TTL = DEFAULT_POLICY.claimTtlMs;

let rig: EngineRig;
let proxy: CuttingProxy;
let engine: Engine;
beforeAll(async () => {
  rig = await createEngineRig();
  proxy = await createCuttingProxy(rig.database.url);
  engine = rig.another({ url: proxy.url });
});
afterEach(async () => {
  expect(await brokenInvariants(rig.database)).toEqual({});
});
afterAll(async () => {
  await rig.close();
  await proxy.close();
});

const run = (command: Command) => engine.executeOne(TENANT, command);

describe.each([
  ['answer', 1],
  ['request', 0],
] as const)('when the %s of a commit is lost', (what, landed) => {
  it('a claim is told that its outcome is unknown, and claiming again gives the one lease', async () => {
    const [nodeId] = await nodes(1, `${what}-claim`);
    const lost = proxy.loseNextCommit(what);
    await expect(run(claim(nodeId, ana))).rejects.toThrow(/outcome is unknown.*safe to repeat/);
    await lost;
    expect(await eventsOf(nodeId)).toEqual(Array.from({ length: landed }, () => 'CLAIMED 1'));
    const again = await run(claim(nodeId, ana));
    expect(again).toMatchObject({ lease: { fence: 1n, holder: 'ana' }, edge: landed === 1 ? 'skipped' : 'added' });
    expect(await eventsOf(nodeId)).toEqual(['CLAIMED 1']);
  });

  it('so is everyone whose command was in the same batch, refusals and releases too', async () => {
    const [held, free] = await nodes(2, `${what}-mixed`);
    await run(claim(held, ana));
    void proxy.loseNextCommit(what);
    const commands = [release(held, ana), claim(free, ana), claim('none', ana), renew(held, ana, { session: 's' })];
    const answers = await Promise.allSettled(commands.map(run));
    for (const answer of answers) expect(answer).toMatchObject({ reason: expect.any(Unavailable) });
    expect(await run(release(held, ana))).toMatchObject({ kind: 'released' });
  });

  it('heartbeats run again and are answered', async () => {
    const ids = await nodes(20, `${what}-beat`);
    await rig.database.clock.stopAt(START);
    await engine.execute(
      TENANT,
      ids.map((nodeId) => claim(nodeId, ana)),
    );
    await rig.database.clock.stopAt(START + 1_000);
    const lost = proxy.loseNextCommit(what);
    const answers = await Promise.all(ids.map((nodeId) => run(renew(nodeId, ana))));
    await lost;
    for (const answer of answers) {
      expect(answer).toMatchObject({ reclaimed: false, lease: { fence: 1n, expiresAt: START + 1_000 + TTL } });
    }
  });

  it('a heartbeat that took a lapsed lease back has taken it once', async () => {
    const [nodeId] = await nodes(1, `${what}-reclaim`);
    await rig.database.clock.stopAt(START);
    await run(claim(nodeId, ana));
    await rig.database.clock.stopAt(START + TTL);
    const lost = proxy.loseNextCommit(what);
    expect(await run(renew(nodeId, ana))).toMatchObject({ lease: { fence: 2n, expiresAt: START + 2 * TTL } });
    await lost;
    expect(await eventsOf(nodeId)).toEqual(['CLAIMED 1', 'EXPIRED 1', 'RECLAIMED 2']);
  });
});

it('a commit that is never answered, on a connection that stays open, is given up', async () => {
  const [nodeId] = await nodes(1, 'silent');
  void proxy.loseNextCommit('answer', 'silence');
  await expect(run(claim(nodeId, ana))).rejects.toThrow(/outcome is unknown/);
  expect(await run(claim(nodeId, ana))).toMatchObject({ lease: { fence: 1n }, edge: 'skipped' });
});

async function nodes(count: number, prefix: string): Promise<[string, string, ...string[]]> {
  const ids = nodeIds(count, `${prefix}-`);
  await rig.addNodes(ids);
  return ids as [string, string, ...string[]];
}

async function eventsOf(nodeId: string): Promise<string[]> {
  const events = await rig.database.sql<{ told: string }>(
    `SELECT kind || ' ' || fence AS told FROM lease_event WHERE node_id = $1 ORDER BY seq`,
    nodeId,
  );
  return events.map(({ told }) => told);
}
