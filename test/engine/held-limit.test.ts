import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Outcome } from '../../src/lease/outcome.ts';
import { breakLease, claim, nodeIds, release } from '../support/commands.ts';
import { ana, bo, cleo, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';

/** The limit of leases in force per person, though it is counted only where it can matter. */
let rig: EngineRig;
beforeAll(async () => {
  rig = await createEngineRig();
});
afterAll(() => rig.close());

async function limitTo(heldMax: number): Promise<void> {
  await rig.database.sql(
    `INSERT INTO policy (tenant_id, project, held_max) VALUES ($1, '', $2)
     ON CONFLICT (tenant_id, project) DO UPDATE SET held_max = excluded.held_max`,
    TENANT,
    heldMax,
  );
}

it('counts on from one call to the next, also when the first count was far below the limit', async () => {
  await limitTo(5);
  await rig.addNodes(nodeIds(8, 'few'));
  const answers: Outcome[] = [];
  for (const nodeId of nodeIds(8, 'few')) answers.push(await rig.engine.executeOne(TENANT, claim(nodeId, ana)));
  expect(answers.map((answer) => (answer.kind === 'refused' ? answer.code : answer.kind))).toEqual([
    ...['held', 'held', 'held', 'held', 'held'],
    ...['limit_reached', 'limit_reached', 'limit_reached'],
  ]);
  const [first] = nodeIds(1, 'few') as [string];
  const inOneBatch = await rig.engine.execute(TENANT, [release(first, ana), claim(first, ana)]);
  expect(inOneBatch.map(({ kind }) => kind)).toEqual(['released', 'held']);
});

it.each([
  ['releases', release],
  ['has broken', breakLease],
] as const)('holds in one batch for a node that a person over the limit %s and claims again', async (word, free) => {
  const ids = nodeIds(4, word.replace(' ', '-'));
  await limitTo(10_000);
  await rig.addNodes(ids);
  const cleos = (nodeId: string) => claim(nodeId, cleo);
  await rig.engine.execute(TENANT, ids.map(cleos));
  await limitTo(2);
  const [first] = ids as [string];
  // An engine that has not counted yet: one that has sees a lowered limit at its next count.
  const [, again] = await rig.another().execute(TENANT, [free(first, cleo), cleos(first)]);
  expect(again).toMatchObject({ code: 'limit_reached', limit: 2 });
});

it('sees within 500 grants that another replica has used the limit up', async () => {
  await limitTo(1_000);
  const [here, there, more] = [nodeIds(100, 'here'), nodeIds(900, 'there'), nodeIds(600, 'more')];
  await rig.addNodes([...here, ...there, ...more]);
  const engines = [rig.engine, rig.another()] as const;
  const claims = (ids: readonly string[]) => ids.map((nodeId) => claim(nodeId, bo));
  await engines[0].execute(TENANT, claims(here));
  await engines[1].execute(TENANT, claims(there));
  const answers = await engines[0].execute(TENANT, claims(more));
  expect(answers.filter(({ kind }) => kind === 'held').length).toBeLessThanOrEqual(500);
});
