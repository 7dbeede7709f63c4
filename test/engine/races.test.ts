import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createEngine, type Engine } from '../../src/engine/engine.ts';
import type { Command } from '../../src/lease/command.ts';
import type { Outcome } from '../../src/lease/outcome.ts';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import { claim, expire, nodeIds, release, renew } from '../support/commands.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { createPausePoints, passed } from '../support/pause-points.ts';
import { createDice, seedOfThisRun } from '../support/random.ts';
import { ana, bo, connectTo, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';

/** Callers, replicas and the sweep at the same nodes at the same time. */
const START = Date.UTC(2030, 0, 1);
const TTL = DEFAULT_POLICY.claimTtlMs;
const points = createPausePoints();
const otherPoints = createPausePoints();

let rig: EngineRig;
let other: Engine;
beforeAll(async () => {
  rig = await createEngineRig({ pause: points.pause });
  other = rig.another({ pause: otherPoints.pause });
});
afterEach(async () => {
  expect(await brokenInvariants(rig.database)).toEqual({});
});
afterAll(() => rig.close());

it('B09: of two hundred racing claims through two engines one wins, and the others are told who', async () => {
  await rig.addNodes(['prize']);
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      (index % 2 === 0 ? rig.engine : other).executeOne(TENANT, claim('prize', { person: `p${index}`, agent: null })),
    ),
  );
  const won = answers.filter((answer) => answer.kind === 'held');
  expect(won).toHaveLength(1);
  const [winner] = won.map(({ lease }) => lease);
  const lost = answers.filter((answer) => answer.kind === 'refused');
  expect(lost).toHaveLength(199);
  for (const { code, holder } of lost) {
    expect({ code, holder: holder?.holder, until: holder?.expiresAt, fence: holder?.fence }).toEqual({
      code: 'conflict',
      holder: winner?.holder,
      until: winner?.expiresAt,
      fence: 1n,
    });
  }
  expect(await eventsOf('prize')).toEqual(['CLAIMED 1']);
});

it('B33: bulk calls in opposite orders through two engines answer every item and never deadlock', async () => {
  const seed = seedOfThisRun();
  const ids = nodeIds(100, 'cross');
  await rig.addNodes(ids);
  const connections = [connectTo(rig.database.url), connectTo(rig.database.url)];
  const engines = connections.map(({ engine: client }) => createEngine({ client }));
  const calls = Array.from({ length: 12 }, async (_, index) => {
    const dice = createDice(seed + index);
    const caller = { person: `p${index % 3}`, agent: null };
    const engine = engines[index % 2] as Engine;
    const answers: Outcome[] = [];
    for (let round = 0; round < 8; round += 1) {
      const order = index % 4 < 2 ? [...ids] : [...ids].reverse();
      const verb = dice.pick([claim, renew, release] as const);
      answers.push(
        ...(await engine.execute(
          TENANT,
          (round % 2 === 0 ? order : dice.shuffle(ids)).map((id) => verb(id, caller)),
        )),
      );
      const sweep: Command[] = dice.shuffle(ids).map((id) => expire(id, BigInt(1 + dice.below(9))));
      answers.push(...(await engine.execute(TENANT, sweep)));
    }
    return answers;
  });
  const answers = (await Promise.all(calls)).flat();
  expect(answers).toHaveLength(12 * 8 * 200);
  expect(answers.every((answer) => typeof answer.kind === 'string')).toBe(true);
  await Promise.all(engines.map((engine) => engine.stop()));
  await Promise.all(connections.map((each) => each.close()));
  expect(await deadlocks()).toBe(0);
}, 120_000);

describe('B10: a renewal against the sweep of the same lease', () => {
  it('that decided first ends it once, and the renewal is a reclaim with a new fence', async () => {
    await heldSince(START, ['swept-first']);
    await rig.database.clock.stopAt(START + TTL);
    const decided = points.next('decided', (commands) => commands[0]?.verb === 'expire');
    const sweep = rig.engine.executeOne(TENANT, expire('swept-first', 1n));
    const sweeper = await decided;
    const renewal = rig.engine.executeOne(TENANT, renew('swept-first', ana));
    const elsewhere = other.executeOne(TENANT, renew('swept-first', ana));
    sweeper.go();
    expect(await sweep).toMatchObject({ found: 'lapsed' });
    const answers = await Promise.all([renewal, elsewhere]);
    expect(answers.map((answer) => answer.kind === 'held' && answer.reclaimed).sort()).toEqual([false, true]);
    expect(await eventsOf('swept-first')).toEqual(['CLAIMED 1', 'EXPIRED 1', 'RECLAIMED 2']);
  });

  it('that comes while the renewal is being written finds the lease alive and makes no event', async () => {
    await heldSince(START, ['renewed-first']);
    await rig.database.clock.stopAt(START + TTL - 1);
    const written = points.next('written', (commands) => commands[0]?.verb === 'renew');
    const renewal = rig.engine.executeOne(TENANT, renew('renewed-first', ana));
    const renewing = await written;
    await rig.database.clock.stopAt(START + TTL);
    const tried = passed(otherPoints, 'committed', 'renewed-first');
    const sweep = other.executeOne(TENANT, expire('renewed-first', 1n));
    await tried;
    renewing.go();
    expect(await renewal).toMatchObject({ reclaimed: false, lease: { fence: 1n, expiresAt: START + 2 * TTL - 1 } });
    expect(await sweep).toMatchObject({ found: 'alive' });
    expect(await eventsOf('renewed-first')).toEqual(['CLAIMED 1']);
  });
});

it('B11: a sweep that read its ids long ago ends only those that are still the same and lapsed', async () => {
  const read = ['renewed', 'released', 'taken', 'gone-since', 'lapsed-1', 'lapsed-2'];
  await heldSince(START, read);
  await rig.database.clock.stopAt(START + TTL - 1);
  await rig.engine.execute(TENANT, [renew('renewed', ana), release('released', ana)]);
  await rig.database.clock.stopAt(START + TTL);
  await rig.engine.execute(TENANT, [claim('taken', bo), renew('gone-since', ana), release('gone-since', ana)]);
  const before = await eventCount();
  const answers = await rig.engine.execute(
    TENANT,
    read.map((nodeId) => expire(nodeId, 1n)),
  );
  expect(answers.map((answer) => answer.kind === 'swept' && answer.found)).toEqual([
    ...['alive', 'gone', 'gone', 'gone'],
    ...['lapsed', 'lapsed'],
  ]);
  expect((await eventCount()) - before).toBe(2);
  expect(await eventsOf('taken')).toEqual(['CLAIMED 1', 'EXPIRED 1', 'CLAIMED 2']);
  expect(await rig.engine.executeOne(TENANT, claim('taken', ana))).toMatchObject({
    code: 'conflict',
    holder: { holder: 'bo', fence: 2n },
  });
});

it('a sweep that finds a lease alive looks again when it ends', async () => {
  await heldSince(START, ['looked-at']);
  await rig.database.clock.stopAt(START + TTL - 1);
  await rig.engine.executeOne(TENANT, renew('looked-at', ana));
  const sweepAt = () => rig.database.sql(`SELECT holdfast_ms(sweep_at) AS at FROM lease WHERE node_id = 'looked-at'`);
  expect(await sweepAt()).toEqual([{ at: String(START + TTL) }]);
  await rig.engine.executeOne(TENANT, expire('looked-at', 1n));
  expect(await sweepAt()).toEqual([{ at: String(START + 2 * TTL - 1) }]);
});

it('a sweep of nodes that never were or never were held answers at once', async () => {
  await rig.addNodes(['never-held']);
  const answers = await rig.engine.execute(TENANT, [
    ...[expire('never-was', 0n), expire('never-was', 1n)],
    ...[expire('never-held', 0n), expire('never-held', 1n)],
  ]);
  expect(answers).toEqual(Array.from({ length: 4 }, () => ({ kind: 'swept', found: 'gone' })));
});

/** New nodes that ana claimed at this moment. */
async function heldSince(ms: number, ids: readonly string[]): Promise<void> {
  await rig.addNodes(ids);
  await rig.database.clock.stopAt(ms);
  await rig.engine.execute(
    TENANT,
    ids.map((nodeId) => claim(nodeId, ana)),
  );
}

async function eventsOf(nodeId: string): Promise<string[]> {
  const events = await rig.database.sql<{ told: string }>(
    `SELECT kind || ' ' || fence AS told FROM lease_event WHERE node_id = $1 ORDER BY seq`,
    nodeId,
  );
  return events.map(({ told }) => told);
}

async function eventCount(): Promise<number> {
  const [row] = await rig.database.sql<{ count: string }>('SELECT count(*) FROM lease_event');
  return Number(row?.count);
}

/** Deadlocks that the server ever found in this database. */
async function deadlocks(): Promise<number> {
  const [row] = await rig.database.sql<{ deadlocks: string }>(
    'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(row?.deadlocks);
}
