import { afterAll, beforeAll, expect, it } from 'vitest';
import { nodeIds } from '../support/commands.ts';
import { brokenInvariants, INVARIANTS } from '../support/invariants.ts';
import { createDice, seedOfThisRun } from '../support/random.ts';
import { randomCommand } from '../support/random-commands.ts';
import { createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';

/** The history of a tenant under load from two replicas, read as a subscriber would read it. */
let rig: EngineRig;
beforeAll(async () => {
  rig = await createEngineRig();
  await rig.addNodes([...NODES, 'n1', 'n2', 'n3']);
});
afterAll(() => rig.close());

const NODES = nodeIds(60);

it('is gapless, in order and whole after 3,000 commands through two engines', async () => {
  const seed = seedOfThisRun();
  const engines = [rig.engine, rig.another()] as const;
  const callers = Array.from({ length: 12 }, async (_, caller) => {
    const dice = createDice(seed + caller);
    for (let call = 0; call < 25; call += 1) {
      const commands = Array.from({ length: 10 }, () => randomCommand(dice, dice.chance(0.8) ? NODES : undefined));
      await (engines[caller % 2] ?? rig.engine).execute(TENANT, commands);
      if (dice.chance(0.2)) await lapse(dice.pick(NODES));
    }
  });
  const reader = readAsItGrows(Promise.all(callers));
  await Promise.all(callers);
  expect(await brokenInvariants(rig.database), `seed ${seed}`).toEqual({});
  const { read, latest } = await reader;
  expect(read).toEqual(Array.from({ length: latest }, (_, index) => index + 1));
  expect(latest).toBeGreaterThan(500);
});

it('and each of these rules notices when it is broken', async () => {
  const { sql } = rig.database;
  const granted = `(SELECT min(seq) FROM lease_event WHERE kind = 'CLAIMED')`;
  const released = `(SELECT max(seq) FROM lease_event WHERE kind = 'RELEASED')`;
  await sql(`DELETE FROM edge WHERE type = 'assigned'`);
  await sql(`UPDATE lease SET fence = fence + 1 WHERE node_id = 'n00001'`);
  await sql(`UPDATE lease_event SET fence = fence + 1 WHERE seq = ${granted}`);
  await sql(`UPDATE lease_event SET at = at - interval '1 h', batch = 1 WHERE seq IN (100, 300)`);
  await sql(
    `UPDATE lease_event SET holder = 'dan' WHERE seq = (SELECT min(seq) FROM lease_event WHERE kind = 'EXPIRED')`,
  );
  await sql(`DELETE FROM lease_event WHERE seq = ${released}`);
  await sql(`UPDATE lease_event SET kind = 'CLAIMED' WHERE seq = ${released}`);
  expect(Object.keys(await brokenInvariants(rig.database))).toEqual(INVARIANTS);
});

/** One lease that ended a moment ago, as after a long silence. */
async function lapse(nodeId: string): Promise<void> {
  await rig.database.sql(
    `UPDATE lease SET expires_at = holdfast_now(), sweep_at = least(sweep_at, holdfast_now()),
       claimed_at = least(claimed_at, holdfast_now() - interval '1 s')
     WHERE node_id = $1 AND holder IS NOT NULL`,
    nodeId,
  );
}

/** Reads what follows the last seq read, again and again; a late commit of an earlier seq would be missed. */
async function readAsItGrows(done: Promise<unknown>): Promise<{ read: number[]; latest: number }> {
  const read: number[] = [];
  let over = false;
  const tail = async () => {
    const rows = await rig.database.sql<{ seq: string }>(
      'SELECT seq FROM lease_event WHERE tenant_id = $1 AND seq > $2 ORDER BY seq',
      TENANT,
      read.at(-1) ?? 0,
    );
    read.push(...rows.map(({ seq }) => Number(seq)));
  };
  void done.finally(() => {
    over = true;
  });
  while (!over) await tail();
  await tail();
  const [tenant] = await rig.database.sql<{ seq: string }>('SELECT seq FROM tenant WHERE tenant_id = $1', TENANT);
  return { read, latest: Number(tenant?.seq) };
}
