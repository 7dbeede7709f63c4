import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BatchAnswer, type BatchParts, runBatch } from '../../src/engine/batch.ts';
import { createHeldCount } from '../../src/engine/held-count.ts';
import { type NetChange, netChange, type Step } from '../../src/engine/net-change.ts';
import { createDice, seedOfThisRun } from '../support/random.ts';
import { randomCommand, randomPast } from '../support/random-commands.ts';
import { createEngineRig, type EngineRig } from '../support/rig.ts';

/**
 * A batch equals the same commands one by one. Two tenants begin alike; one gets each batch whole, the other its
 * commands singly; all answers and all tables must be the same. The clock stands still within a batch.
 */
const WORLDS = 20;
const WORLDS_AT_ONCE = 4;
const BATCHES_IN_A_WORLD = 52;

let rig: EngineRig;
beforeAll(async () => {
  rig = await createEngineRig();
  await rig.database.sql(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$`,
  );
});
afterAll(() => rig.close());

it(`a batch equals its commands one by one, ${WORLDS * BATCHES_IN_A_WORLD} times`, async () => {
  const seed = seedOfThisRun();
  for (let first = 0; first < WORLDS; first += WORLDS_AT_ONCE) {
    const worlds = await Promise.all(
      Array.from({ length: WORLDS_AT_ONCE }, (_, index) => createWorld(seed + first + index)),
    );
    for (let batch = 0; batch < BATCHES_IN_A_WORLD; batch += 1) {
      await rig.database.clock.stopAt(START + (first * BATCHES_IN_A_WORLD + batch) * 977);
      await Promise.all(worlds.map((world) => world.compare(50)));
    }
  }
}, 180_000);

it('shows a difference when edges are written step by step and not as their net change', async () => {
  const edgesAsTheyCame = (steps: readonly Step[]): NetChange => {
    const each = steps.map((step) => netChange([step]));
    return {
      ...netChange(steps),
      edgesAdded: each.flatMap((change) => change.edgesAdded),
      edgesRemoved: each.flatMap((change) => change.edgesRemoved),
    };
  };
  const world = await createWorld(1, edgesAsTheyCame);
  await rig.database.clock.stopAt(START * 2);
  await expect(manyTimes(world)).rejects.toThrow(/seed 1\b/);
});

it('stops a batch that writes a lease step by step, since its row then is not as it was read', async () => {
  const leasesAsTheyCame = (steps: readonly Step[]): NetChange => ({
    ...netChange(steps),
    leases: steps.flatMap((step) => netChange([step]).leases),
  });
  const world = await createWorld(1, leasesAsTheyCame);
  await expect(manyTimes(world)).rejects.toThrow(/changed under its lock/);
});

async function manyTimes(world: World): Promise<void> {
  for (let batch = 0; batch < BATCHES_IN_A_WORLD; batch += 1) await world.compare(50);
}

const START = Date.UTC(2030, 0, 1);

interface World {
  /** One more random batch of at most so many commands. */
  compare(most: number): Promise<void>;
}

let tenants = 0;

async function createWorld(seed: number, difference: BatchParts['difference'] = netChange): Promise<World> {
  const dice = createDice(seed);
  const [batched, single] = [`batched-${tenants}`, `single-${tenants}`];
  tenants += 1;
  for (const tenantId of [batched, single]) {
    await rig.addTenant(tenantId);
    await rig.addNodes(['n1'], { tenantId });
    await rig.addNodes(['n2'], { tenantId, type: 'issue', status: null, project: 'p2' });
    await rig.addNodes(['n3'], { tenantId, type: 'question', project: null });
  }
  // Both tenants were made at some moment of their own.
  const ofThese = `WHERE tenant_id IN ('${batched}', '${single}')`;
  await rig.database.sql(`UPDATE work_node SET created_at = 'epoch', updated_at = 'epoch' ${ofThese}`);
  await rig.database.sql(`UPDATE person SET created_at = 'epoch' ${ofThese}`);
  await rig.database.sql(`UPDATE tenant SET created_at = 'epoch', name = '' ${ofThese}`);
  const told: string[] = [];
  let seen = 0;
  return {
    async compare(most) {
      for (const statement of randomPast(dice)) {
        await rig.database.sql(statement, [batched, single]);
        told.push(statement);
      }
      const commands = Array.from({ length: 1 + dice.below(dice.chance(0.5) ? 10 : most) }, () => randomCommand(dice));
      told.push(JSON.stringify(commands, (_, value) => (typeof value === 'bigint' ? `${value}` : value)));
      const client = rig.clients.engine;
      const whole = await runBatch({ client, heldCount: createHeldCount(), difference }, batched, commands);
      const parts = { client, heldCount: createHeldCount() };
      const singly: BatchAnswer[] = [];
      for (const command of commands) singly.push(...(await runBatch(parts, single, [command])));
      const why = `seed ${seed}, of the run's world, after ${told.length} steps, the last:\n${told.slice(-4).join('\n')}`;
      expect(whole, why).toEqual(singly);
      const [left, right] = [await tables(batched, seen), await tables(single, seen)];
      expect(left, why).toEqual(right);
      seen = left.tenant[0]?.seq ?? 0;
    },
  };
}

const TABLES = [
  ['lease', 'node_id'],
  ['edge', 'from_id, type, to_id'],
  ['work_node', 'node_id'],
  ['person', 'person_id'],
  ['tenant', 'tenant_id'],
  ['policy', 'project'],
  ['lease_event', 'seq'],
] as const;

type Tables = Record<string, Record<string, unknown>[]> & { tenant: { seq: number }[] };

/** All that a tenant has, but for what names the tenant or the batch. */
async function tables(tenantId: string, afterSeq: number): Promise<Tables> {
  const [row] = await rig.database.sql<{ all: Tables }>(
    `SELECT json_build_object(${TABLES.map(
      ([table, order]) => `'${table}', (
        SELECT coalesce(json_agg(to_jsonb(t) - '{tenant_id,batch}'::text[] ORDER BY ${order}), '[]')
        FROM ${table} t WHERE tenant_id = $1 AND ${table === 'lease_event' ? 'seq > $2' : '$2 >= 0'})`,
    ).join()}) AS all`,
    tenantId,
    afterSeq,
  );
  return row?.all as Tables;
}
