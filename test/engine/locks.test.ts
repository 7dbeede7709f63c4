import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { LANE_LIMITS } from '../../src/engine/lanes.ts';
import { Unavailable } from '../../src/engine/unavailable.ts';
import type { Command } from '../../src/lease/command.ts';
import { claim, expire, extend, nodeIds, putNode, release, renew, reserve, setStatus } from '../support/commands.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { createPausePoints } from '../support/pause-points.ts';
import { createDice, seedOfThisRun } from '../support/random.ts';
import { ana, bo, cleo, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';
import { lockLeaseRow } from '../support/row-lock.ts';

/** A lease row that another transaction has locked holds up its own node's commands and nothing else. */
let rig: EngineRig;
beforeAll(async () => {
  rig = await createEngineRig({ limits: { ...LANE_LIMITS, longestWaitMs: 60_000 } });
});
afterEach(async () => {
  expect(await brokenInvariants(rig.database)).toEqual({});
});
afterAll(() => rig.close());

it('10,000 commands on 64 other nodes are answered while one row is locked, its own after its release', async () => {
  const dice = createDice(seedOfThisRun());
  const others = nodeIds(64, 'hot');
  await rig.addNodes(['frozen', ...others]);
  const engines = [rig.engine, rig.another({ limits: { ...LANE_LIMITS, longestWaitMs: 60_000 } })];
  const lock = await lockLeaseRow(rig.database, 'frozen');
  let told = false;
  const frozen = engines.map((engine) => engine.executeOne(TENANT, claim('frozen', ana)));
  for (const answer of frozen) {
    void answer.then(() => {
      told = true;
    });
  }

  const makers = [claim, claim, renew, renew, renew, release] as const;
  const answers = await Promise.all(
    Array.from({ length: 10_000 }, (_, index) => {
      const command = dice.pick(makers)(dice.pick(others), dice.pick([ana, bo, cleo]));
      return (engines[index % 2] as Engine).executeOne(TENANT, command);
    }),
  );
  expect(answers).toHaveLength(10_000);
  expect(new Set(answers.map((answer) => (answer.kind === 'refused' ? answer.code : answer.kind)))).toEqual(
    new Set(['held', 'released', 'conflict', 'lease_lost']),
  );
  expect(told).toBe(false);
  await lock.letGo();
  const [first, second] = await Promise.all(frozen);
  expect([first, second]).toMatchObject([{ lease: { fence: 1n } }, { lease: { fence: 1n } }]);
});

describe('a row that stays locked', () => {
  let impatient: Engine;
  beforeAll(async () => {
    impatient = rig.another({ limits: { ...LANE_LIMITS, longestWaitMs: 100 } });
    await rig.addNodes(['mine', 'free', 'other', 'lapsed']);
    await rig.engine.execute(TENANT, [claim('mine', ana), claim('other', bo), claim('lapsed', bo)]);
    await rig.database.sql(
      `UPDATE lease SET claimed_at = now() - interval '2 h', expires_at = now() - interval '1 h',
         sweep_at = now() - interval '1 h' WHERE node_id = 'lapsed'`,
    );
  });

  const unsure: readonly Command[] = [
    ...[claim('free', ana), claim('lapsed', ana), claim('mine', ana, { dispatch: 'd1' })],
    ...[renew('mine', ana), renew('mine', ana, { fence: 1n }), renew('lapsed', ana), extend('mine', ana, 1e6)],
    ...[reserve('mine', ana), release('mine', ana), release('mine', ana, 1n), expire('lapsed', 1n)],
    ...[setStatus('mine', bo, 'done'), putNode('mine', bo, { ifExists: 'update', fields: { type: 'issue' } })],
  ];
  it.each(unsure.map((command) => [command.verb, command.nodeId, command] as const))(
    'is never told as lost or free: %s on %s is unavailable after its wait, and nothing is done',
    async (_verb, nodeId, command) => {
      const lock = await lockLeaseRow(rig.database, nodeId);
      const before = await rowsOf(nodeId);
      await expect(impatient.executeOne(TENANT, command)).rejects.toThrow(Unavailable);
      expect(await rowsOf(nodeId)).toEqual(before);
      await lock.letGo();
    },
  );

  const sure: readonly (readonly [Command, object])[] = [
    [claim('other', ana), { code: 'conflict', holder: { holder: 'bo' } }],
    [release('other', ana), { code: 'conflict', holder: { holder: 'bo' } }],
    [renew('other', ana), { code: 'lease_lost', holder: { holder: 'bo' } }],
    [renew('other', bo, { fence: 9n }), { code: 'lease_lost' }],
    [expire('other', 9n), { found: 'gone' }],
  ];
  it.each(sure.map(([command, outcome]) => [command.verb, command, outcome] as const))(
    "still answers what another's lease in force or a fence that is gone decide: %s",
    async (_, command, outcome) => {
      const lock = await lockLeaseRow(rig.database, 'other');
      expect(await impatient.executeOne(TENANT, command)).toMatchObject(outcome);
      await lock.letGo();
    },
  );

  async function rowsOf(nodeId: string): Promise<unknown> {
    return rig.database.sql(
      `SELECT l.*, n.*, (SELECT count(*) FROM lease_event e WHERE e.node_id = l.node_id) AS events
       FROM lease l JOIN work_node n USING (tenant_id, node_id) WHERE node_id = $1`,
      nodeId,
    );
  }
});

it('refuses what is more than may wait, at once and with nothing done, and answers what waits', async () => {
  const engine = rig.another({ limits: { ...LANE_LIMITS, mostWaiting: 10, longestWaitMs: 60_000 } });
  const nodes = nodeIds(12, 'many');
  await rig.addNodes(nodes);
  const answers = await Promise.allSettled(nodes.map((nodeId) => engine.executeOne(TENANT, claim(nodeId, ana))));
  expect(answers.map(({ status }) => status)).toEqual([
    ...nodes.slice(2).map(() => 'fulfilled'),
    ...['rejected', 'rejected'],
  ]);
  for (const answer of answers.slice(10)) expect(answer).toMatchObject({ reason: expect.any(Unavailable) });
  const held = await rig.database.sql<{ node_id: string }>(
    `SELECT node_id FROM lease WHERE node_id LIKE 'many%' AND fence > 0 ORDER BY node_id`,
  );
  expect(held.map((row) => row.node_id)).toEqual(nodes.slice(0, 10));
  expect(engine.load).toBe(0);
});

it("keeps the order of a node's commands, across lanes, calls of any size and a locked row", async () => {
  const points = createPausePoints();
  const engine = rig.another({ limits: { ...LANE_LIMITS, longestWaitMs: 60_000 }, pause: points.pause });
  const nodes = nodeIds(20, 'order');
  await rig.addNodes(nodes);
  const [locked] = nodes as [string];
  const lock = await lockLeaseRow(rig.database, locked);
  const cycle = (nodeId: string) => [claim(nodeId, ana), renew(nodeId, ana), release(nodeId, ana)];
  const singles = () => nodes.flatMap(cycle).map((command) => engine.executeOne(TENANT, command));

  const inFlight = points.next('decided', (commands) => commands.some(({ nodeId }) => nodeId === locked));
  const before = singles();
  const stop = await inFlight;
  const meanwhile = singles();
  const bulk = engine.execute(TENANT, nodes.flatMap(cycle));
  const after = singles();
  stop.go();
  await before.at(-1);
  await lock.letGo();
  const answers = [...(await Promise.all([...before, ...meanwhile, ...after])), ...(await bulk)];
  // Out of order, a renewal would reclaim or a release find nothing to end.
  answers.forEach((answer, index) => {
    const expected = [
      { status: 'claimed', edge: 'added' },
      { status: 'renewed', reclaimed: false },
      { kind: 'released', ended: true },
    ][index % 3];
    expect(answer).toMatchObject(expected as object);
  });
});
