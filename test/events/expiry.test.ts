import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createExpiry, type Expiry } from '../../src/events/expiry.ts';
import { claim, extend, renew, reserve } from '../support/commands.ts';
import { ana, bo, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';

let rig: EngineRig;
let expiry: Expiry;
let now = Date.UTC(2030, 0, 1);
const MINUTE = 60_000;
const log = { warn: () => {} };

beforeAll(async () => {
  rig = await createEngineRig();
  expiry = createExpiry({ engine: rig.engine, reads: rig.clients.reads, log });
  await rig.database.clock.stopAt(now);
});
afterAll(() => rig.close());

async function pass(ms: number): Promise<void> {
  now += ms;
  await rig.database.clock.stopAt(now);
}

const eventsOf = (nodeId: string) =>
  rig.database.sql<{ kind: string; holder: string; reserved: boolean; actor_person: string | null }>(
    'SELECT kind, holder, reserved, actor_person FROM lease_event WHERE tenant_id = $1 AND node_id = $2 ORDER BY seq',
    TENANT,
    nodeId,
  );

describe('the sweep', () => {
  it('ends a lapsed lease once, by nobody, at its very end and not before', async () => {
    await rig.addNodes(['n1']);
    await rig.engine.executeOne(TENANT, claim('n1', ana));
    await pass(45 * MINUTE - 1);
    expect(await expiry.runOnce()).toEqual({ lapsed: 0, alive: 0, gone: 0, nextInMs: 1 });
    await pass(1);
    expect(await expiry.runOnce()).toEqual({ lapsed: 1, alive: 0, gone: 0, nextInMs: 1_000 });
    expect(await expiry.runOnce()).toMatchObject({ lapsed: 0, gone: 0 });
    expect((await eventsOf('n1')).slice(1)).toEqual([
      { kind: 'EXPIRED', holder: 'ana', reserved: false, actor_person: null },
    ]);
  });

  it('leaves a lease that was renewed, and looks again at its new end', async () => {
    await rig.addNodes(['n2']);
    await rig.engine.executeOne(TENANT, claim('n2', ana));
    await pass(30 * MINUTE);
    await rig.engine.executeOne(TENANT, renew('n2', ana));
    await pass(15 * MINUTE);
    expect(await expiry.runOnce()).toMatchObject({ lapsed: 0, alive: 1 });
    expect(await expiry.runOnce()).toMatchObject({ lapsed: 0, alive: 0 });
    await pass(30 * MINUTE);
    expect(await expiry.runOnce()).toMatchObject({ lapsed: 1 });
    expect((await eventsOf('n2')).map(({ kind }) => kind)).toEqual(['CLAIMED', 'EXPIRED']);
  });

  it('escalates a reservation at the end of its grace, told as reserved', async () => {
    await rig.addNodes(['n3']);
    await rig.engine.executeOne(TENANT, reserve('n3', bo));
    await pass(48 * 60 * MINUTE - 1);
    expect(await expiry.runOnce()).toMatchObject({ lapsed: 0 });
    await pass(1);
    expect(await expiry.runOnce()).toMatchObject({ lapsed: 1 });
    expect((await eventsOf('n3')).at(-1)).toMatchObject({ kind: 'EXPIRED', holder: 'bo', reserved: true });
  });

  it('tells one EXPIRED for each of many, whoever comes first: two sweeps and the claims of another', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `m${index}`);
    await rig.addNodes(ids);
    await rig.engine.execute(
      TENANT,
      ids.map((id) => claim(id, ana)),
    );
    await pass(45 * MINUTE);
    const other = rig.another();
    const sweeps = [expiry, createExpiry({ engine: other, reads: rig.clients.reads, log })];
    const taken = ids.filter((_, index) => index % 3 === 0);
    await Promise.all([
      ...sweeps.map((each) => each.runOnce()),
      other.execute(
        TENANT,
        taken.map((id) => claim(id, bo)),
      ),
    ]);
    await expiry.runOnce();
    const rows = await rig.database.sql<{ node_id: string; count: string }>(
      `SELECT node_id, count(*) FROM lease_event WHERE kind = 'EXPIRED' AND holder = 'ana' AND node_id LIKE 'm%' GROUP BY 1`,
    );
    expect(rows.map(({ count }) => count)).toEqual(ids.map(() => '1'));
    await other.stop();
  });

  it('takes all that is due in one pass, more than one statement reads', async () => {
    const ids = Array.from({ length: 2_500 }, (_, index) => `q${index}`);
    await rig.addNodes(ids);
    await rig.engine.execute(
      TENANT,
      ids.map((id) => claim(id, ana)),
    );
    await pass(45 * MINUTE);
    expect((await expiry.runOnce()).lapsed).toBeGreaterThanOrEqual(2_500);
  });

  it('B06: waits a grace of 30 days without a timer that overflows, and ends it once', async () => {
    const warnings: string[] = [];
    const warned = ({ name }: Error) => warnings.push(name);
    process.on('warning', warned);
    await rig.database.sql(
      `INSERT INTO policy (tenant_id, project, reserve_grace_ms) VALUES ($1, '', 2592000000)`,
      TENANT,
    );
    await rig.addNodes(['long']);
    await rig.engine.executeOne(TENANT, reserve('long', ana));
    expect((await expiry.runOnce()).nextInMs).toBeLessThanOrEqual(1_000);
    await pass(30 * 24 * 60 * MINUTE - 1);
    expect(await expiry.runOnce()).toMatchObject({ lapsed: 0 });
    await pass(1);
    expect(await expiry.runOnce()).toMatchObject({ lapsed: 1 });
    expect((await eventsOf('long')).filter(({ kind }) => kind === 'EXPIRED')).toHaveLength(1);
    process.off('warning', warned);
    expect(warnings).toEqual([]);
    await rig.database.sql(`DELETE FROM policy`);
  });

  it('runs by itself from start to stop', async () => {
    await rig.addNodes(['auto']);
    await rig.engine.executeOne(TENANT, extend('auto', ana, 1));
    await pass(46 * MINUTE);
    const own = createExpiry({ engine: rig.engine, reads: rig.clients.reads, log });
    own.start();
    await expect
      .poll(() => eventsOf('auto').then((events) => events.at(-1)?.kind), { timeout: 10_000 })
      .toBe('EXPIRED');
    await own.stop();
    await own.stop();
  });
});
