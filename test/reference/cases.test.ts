import { describe, expect } from 'vitest';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import { eachDoor, useDoors } from '../support/both-doors.ts';
import type { Doors } from '../support/doors.ts';
import { brokenInvariants } from '../support/invariants.ts';

/** Faults that others had in public, tried on both doors. */
const { claimTtlMs, claimTtlMaxMs } = DEFAULT_POLICY;
const doors = useDoors();
const both = eachDoor(doors);

async function eventsOf(rig: Doors, nodeId: string): Promise<string[]> {
  const rows = await rig.database.sql<{ told: string }>(
    `SELECT kind || ' ' || fence AS told FROM lease_event WHERE node_id = $1 ORDER BY seq`,
    nodeId,
  );
  return rows.map(({ told }) => told);
}

describe('B05: odd durations', () => {
  for (const ms of [2 ** 31, 2 ** 53, 2 ** 63, 1e308, Number.MIN_VALUE, 0.5]) {
    both(`${ms} stretches the lease at most to the ceiling`, async (verbs, rig) => {
      const node = await rig.node();
      const { lease } = await verbs.claim('ana', node);
      const answer = await verbs.extend('ana', node, ms);
      expect(answer).toMatchObject({ status: 'extended', capped: ms > 1 });
      const end = ms > 1 ? rig.now + claimTtlMaxMs : (lease?.expiresAt ?? 0) + 1;
      expect(answer.lease?.expiresAt).toBe(end);
    });
  }

  for (const ms of [0, -0, -1, -1e308]) {
    both(`${Object.is(ms, -0) ? '-0' : ms} is refused and changes nothing`, async (verbs, rig) => {
      const node = await rig.node();
      const { lease } = await verbs.claim('ana', node);
      expect(await verbs.extend('ana', node, ms)).toMatchObject({ code: 'invalid_input', field: 'ms' });
      expect(await verbs.read('ana', node)).toMatchObject({ lease });
    });
  }
});

describe('B15: the old holder releases after a takeover', () => {
  both('alone and in bulk, and touches nothing', async (verbs, rig) => {
    const node = await rig.node();
    await verbs.claim('ana', node);
    await rig.pass(claimTtlMs);
    const { lease } = await verbs.claim('bo', node);
    expect(await verbs.release('ana', node)).toMatchObject({ code: 'conflict', holder: lease });
    expect(await verbs.release('ana', node, { fence: '1' })).toMatchObject({ code: 'conflict', holder: lease });
    expect(await verbs.releaseHeld('ana')).toMatchObject({ landed: [], failed: [] });
    expect(await verbs.read('ana', node)).toMatchObject({ lease, assigned: ['ana', 'bo'] });
    expect(await eventsOf(rig, node)).toEqual(['CLAIMED 1', 'EXPIRED 1', 'CLAIMED 2']);
  });

  both('the newer session of the same person survives the older', async (verbs, rig) => {
    const node = await rig.node();
    await verbs.claim('ana', node, { session: 'older' });
    await rig.pass(claimTtlMs);
    const { lease } = await verbs.claim('ana', node, { session: 'newer' });
    expect(await verbs.release('ana', node, { fence: '1' })).toMatchObject({ code: 'lease_lost', holder: lease });
    expect(await verbs.releaseHeld('ana', { session: 'older' })).toMatchObject({ landed: [] });
    expect(await verbs.read('ana', node)).toMatchObject({ lease });
  });
});

both('B16: release succeeds three times, the last after the expiry, with one event', async (verbs, rig) => {
  const node = await rig.node();
  await verbs.claim('ana', node);
  expect(await verbs.release('ana', node)).toMatchObject({ status: 'released', edge: 'removed' });
  expect(await verbs.release('ana', node)).toMatchObject({ status: 'released', edge: 'skipped' });
  await rig.pass(claimTtlMs);
  expect(await verbs.release('ana', node)).toMatchObject({ status: 'released', edge: 'skipped' });
  expect(await eventsOf(rig, node)).toEqual(['CLAIMED 1', 'RELEASED 1']);
});

describe('B20: only exact names match', () => {
  both('of sessions', async (verbs, rig) => {
    const sessions = ['s', 's1', 'S', 's%', 's_', '%', ' s'];
    const nodes = await rig.nodes(sessions.length);
    for (const [index, session] of sessions.entries()) await verbs.claim('ana', nodes[index] as string, { session });
    for (const [index, session] of sessions.entries()) {
      expect(await verbs.renewHeld('ana', { session })).toMatchObject({
        landed: [nodes[index]],
        skipped: { session: sessions.length - 1 },
      });
    }
    expect(await verbs.releaseHeld('ana', { session: 's%' })).toMatchObject({ landed: [nodes[3]] });
  });

  both('of projects', async (verbs, rig) => {
    const near = await rig.node({ project: 'p1' });
    await verbs.claim('ana', near);
    await verbs.claim('ana', await rig.node({ project: 'p10' }));
    expect(await verbs.renewHeld('ana', { project: 'p1' })).toMatchObject({ landed: [near], skipped: { project: 1 } });
    for (const project of ['p', 'P1', 'p%', 'p_', ' p1']) {
      expect(await verbs.renewHeld('ana', { project })).toMatchObject({ landed: [], skipped: { project: 2 } });
    }
  });

  both('of people', async (verbs, rig) => {
    const node = await rig.node();
    const person = `mutation { createPerson(input: { id: "ana-2", name: "Ana" }) { person { personId } } }`;
    await rig.graphql('admin', person);
    const made = await rig.graphql('admin', 'mutation { createToken(input: { personId: "ana-2" }) { token } }');
    rig.introduce('ana-2', made.data.createToken.token);
    const { lease } = await verbs.claim('ana', node);
    expect(await verbs.claim('ana-2', node)).toMatchObject({ code: 'conflict', holder: { by: 'ana' } });
    expect(await verbs.release('ana-2', node)).toMatchObject({ code: 'conflict' });
    expect(await verbs.renewHeld('ana-2')).toMatchObject({ count: 0, skipped: { session: 0 } });
    expect(await verbs.releaseHeld('ana-2')).toMatchObject({ landed: [] });
    expect(await verbs.read('ana-2', node)).toMatchObject({ lease });
    for (const id of ['Ana', 'an%', 'a_a', 'ana ', 'äna']) {
      const { errors } = await rig.graphql(
        'admin',
        'mutation ($id: ID!) { createPerson(input: { id: $id, name: "Ana" }) { person { personId } } }',
        { id },
      );
      expect(errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT' } }]);
    }
  });
});

both('B32: a duplicate counts once, and ids match exactly', async (verbs, rig) => {
  const [n1, n2] = (await rig.nodes(2)) as [string, string];
  const list = [n1, n1, n2, n1.toUpperCase(), ` ${n1}`, n2];
  const batch = await verbs.claimMany('ana', list);
  expect(batch).toMatchObject({ status: 'partial', count: 2, landed: [n1, n2] });
  expect(batch.failed).toEqual([
    { nodeId: n1.toUpperCase(), code: 'invalid_input', holder: null },
    { nodeId: ` ${n1}`, code: 'invalid_input', holder: null },
  ]);
  expect(await verbs.renewMany('ana', list)).toMatchObject({ count: 2, landed: [n1, n2], reclaimed: [] });
  expect(await eventsOf(rig, n1)).toEqual(['CLAIMED 1']);
  expect(await verbs.read('ana', n1)).toMatchObject({ assigned: ['ana'] });
});

both('B34: every id of a mixed batch is told once, and unreadable looks like unknown', async (verbs, rig) => {
  const [mine, others, free] = (await rig.nodes(3)) as [string, string, string];
  const closed = await rig.node({ status: 'done' });
  await verbs.claim('ana', mine);
  await verbs.claim('bo', others);
  await rig.database.sql(
    `WITH made AS (INSERT INTO lease (tenant_id, node_id) VALUES ('globex', 'next-door') ON CONFLICT DO NOTHING)
     INSERT INTO work_node (tenant_id, node_id, type, created_at, updated_at)
     VALUES ('globex', 'next-door', 'task', now(), now()) ON CONFLICT DO NOTHING`,
  );
  const ids = [mine, others, 'no-such-node', 'next-door', 'No Id', closed, free];
  const batch = await verbs.claimMany('ana', ids);
  expect(batch).toMatchObject({ status: 'partial', landed: [mine, free] });
  expect(batch.failed.map(({ nodeId, code }) => [nodeId, code])).toEqual([
    [others, 'conflict'],
    ['no-such-node', 'not_found'],
    ['next-door', 'not_found'],
    ['No Id', 'invalid_input'],
    [closed, 'not_ready'],
  ]);
  expect([...batch.landed, ...batch.failed.map(({ nodeId }) => nodeId)].sort()).toEqual([...ids].sort());
});

describe('B35: empty is not absent', () => {
  both('an empty session is refused, everywhere', async (verbs, rig) => {
    const node = await rig.node();
    const session = '';
    for (const answer of [
      await verbs.claim('ana', node, { session }),
      await verbs.renew('ana', node, { session }),
      await verbs.extend('ana', node, 1, { session }),
      await verbs.reserve('ana', node, { session }),
      await verbs.claim('ana', node, { dispatch: '' }),
    ]) {
      expect(answer).toMatchObject({ code: 'invalid_input' });
    }
    for (const batch of [
      () => verbs.claimMany('ana', [node], { session }),
      () => verbs.renewMany('ana', [node], { session }),
      () => verbs.renewHeld('ana', { session }),
      () => verbs.releaseHeld('ana', { session }),
    ]) {
      await expect(batch()).rejects.toThrow('session must be 1 to 200 characters');
    }
    expect(await verbs.read('ana', node)).toMatchObject({ lease: null });
  });

  both('null is absent', async (verbs, rig) => {
    const node = await rig.node();
    await verbs.claim('ana', node, { session: 's1' });
    expect(await verbs.claim('ana', node, { session: null, dispatch: null, force: null })).toMatchObject({
      lease: { session: 's1' },
    });
    expect(await verbs.renew('ana', node, { session: null, fence: null })).toMatchObject({ lease: { session: 's1' } });
    expect(await verbs.renewHeld('ana', { session: null, project: null })).toMatchObject({ landed: [node] });
    expect(await verbs.renewMany('ana', [])).toMatchObject({ landed: [] });
    expect(await verbs.release('ana', node, { fence: null })).toMatchObject({ status: 'released' });
  });
});

both('all of this left the rows and the history whole', async (_verbs, rig) => {
  expect(await brokenInvariants(rig.database)).toEqual({});
});
