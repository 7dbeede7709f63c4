import { afterAll, beforeAll, expect, it } from 'vitest';
import { ana, bo, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';

let rig: EngineRig;
beforeAll(async () => {
  rig = await createEngineRig();
});
afterAll(() => rig.close());

it('smoke', async () => {
  await rig.addNodes(['n1', 'n2']);
  const c = await rig.engine.execute(TENANT, [
    { verb: 'claim', nodeId: 'n1', caller: ana, session: null, dispatch: null, force: false },
    { verb: 'claim', nodeId: 'n1', caller: bo, session: 's', dispatch: null, force: false },
    { verb: 'claim', nodeId: 'nope', caller: bo, session: 's', dispatch: null, force: false },
    {
      verb: 'put-node',
      nodeId: 'n3',
      caller: bo,
      ifExists: 'fail',
      edges: [{ from: 'n3', type: 'blocks', to: 'x' }],
      fields: { type: 'person', title: 'Hé', extra: { email: 'x@y' } },
    },
    { verb: 'extend', nodeId: 'n2', caller: bo, session: 's', fence: null, ms: 1e9 },
    { verb: 'set-status', nodeId: 'n2', caller: ana, status: 'active' },
    { verb: 'release', nodeId: 'n1', caller: ana, fence: null },
  ]);
  console.dir(c, { depth: 9 });
  console.log(await rig.database.sql('select * from lease'));
  console.log(await rig.database.sql('select * from edge'), await rig.database.sql('select * from person'));
  console.log(
    await rig.database.sql('select seq, at, kind, node_id, holder, fence, expires_at, batch from lease_event'),
  );
  const N = 2000;
  const ids = Array.from({ length: N }, (_, i) => `m${i}`);
  await rig.addNodes(ids);
  for (let r = 0; r < 3; r++) {
    const t = performance.now();
    await rig.engine.execute(
      TENANT,
      ids.map((nodeId) => ({ verb: 'claim', nodeId, caller: ana, session: null, dispatch: null, force: false })),
    );
    const t2 = performance.now();
    await rig.engine.execute(
      TENANT,
      ids.map((nodeId) => ({ verb: 'renew', nodeId, caller: ana, session: null, fence: null })),
    );
    const t3 = performance.now();
    await Promise.all(
      ids.map((nodeId) =>
        rig.engine.executeOne(TENANT, { verb: 'renew', nodeId, caller: ana, session: null, fence: null }),
      ),
    );
    const t4 = performance.now();
    await rig.engine.execute(
      TENANT,
      ids.map((nodeId) => ({ verb: 'release', nodeId, caller: ana, fence: null })),
    );
    const t5 = performance.now();
    console.log('claim', t2 - t, 'renew', t3 - t2, 'singles renew', t4 - t3, 'release', t5 - t4);
  }
  expect(1).toBe(1);
});
