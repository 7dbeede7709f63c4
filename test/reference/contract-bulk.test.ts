import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import { eachDoor, useDoors } from '../support/both-doors.ts';
import { DOCUMENTS } from '../support/graphql-documents.ts';

/** What the contract adds to the reference for calls on many nodes. */
const { claimTtlMs, claimTtlMaxMs, reserveGraceMs } = DEFAULT_POLICY;
const MINUTE = 60_000;
const doors = useDoors();
const both = eachDoor(doors);

describe('a list', () => {
  both('that is empty is a batch of nothing, never everything', async (verbs, rig) => {
    await verbs.claim('ana', await rig.node());
    expect(await verbs.claimMany('ana', [])).toMatchObject({ status: 'claimed', count: 0, landed: [], failed: [] });
    expect(await verbs.renewMany('ana', [])).toMatchObject({ status: 'renewed', count: 0, landed: [], failed: [] });
  });

  both('over the longest allowed is refused before anything is done', async (verbs, rig) => {
    await rig.policy({ bulk_max: 2 });
    const nodes = await rig.nodes(3);
    await expect(verbs.claimMany('ana', nodes)).rejects.toThrow('3 entries');
    await expect(verbs.renewMany('ana', nodes)).rejects.toThrow('3 entries');
    for (const node of nodes) expect(await verbs.read('ana', node)).toMatchObject({ lease: null, assigned: [] });
    expect(await verbs.claimMany('ana', nodes.slice(1))).toMatchObject({ count: 2 });
  });

  it('with an entry that is no text refuses the call over REST', async () => {
    const node = await doors().node();
    for (const ids of [[node, 1], [node, null], [[node]], node, {}, true]) {
      for (const verb of ['claim', 'renew']) {
        const { status, body } = await doors().rest('ana', 'POST', `/v1/queue/${verb}`, { ids });
        expect([status, body.error.code]).toEqual([422, 'invalid_input']);
      }
    }
    expect((await doors().rest('ana', 'GET', `/v1/nodes/${node}`)).body).not.toHaveProperty('lease');
  });

  it('with an entry that is no id refuses the call over GraphQL', async () => {
    for (const nodeIds of [[true], [null], [{}], {}]) {
      const { data, errors } = await doors().graphql('ana', DOCUMENTS.claimLeases as string, { input: { nodeIds } });
      expect(data).toBeUndefined();
      expect(errors?.[0]).toMatchObject({ extensions: { code: 'INVALID_INPUT' } });
    }
  });

  both('gives each item the code that the single verb has', async (verbs, rig) => {
    await rig.policy({ held_max: 1 });
    const [first, second] = (await rig.nodes(2)) as [string, string];
    const [done, note] = [await rig.node({ status: 'done' }), await rig.node({ type: 'note' })];
    const { failed } = await verbs.claimMany('cleo', ['No Id', 'no-such-node', note, done, first, second]);
    expect(failed.map(({ nodeId, code }) => [nodeId, code])).toEqual([
      ['No Id', 'invalid_input'],
      ['no-such-node', 'not_found'],
      [note, 'invalid_node'],
      [done, 'not_ready'],
      [second, 'limit_reached'],
    ]);
  });

  it('calls a malformed id invalid_id over REST', async () => {
    const { body } = await doors().rest('ana', 'POST', '/v1/queue/renew', { ids: ['No Id'] });
    expect(body.failed).toMatchObject([{ node_id: 'No Id', code: 'invalid_id' }]);
  });
});

describe('the heartbeat without ids', () => {
  both('never re-stamps: leases of another session or of none are skipped', async (verbs, rig) => {
    const [one, two, none] = (await rig.nodes(3)) as [string, string, string];
    await verbs.claim('ana', one, { session: 's1' });
    await verbs.claim('ana', two, { session: 's2' });
    await verbs.claim('ana', none);
    const batch = await verbs.renewHeld('ana', { session: 's1' });
    expect(batch).toMatchObject({ landed: [one], skipped: { session: 2, project: 0, reserved: 0 } });
    expect((await verbs.renewHeld('ana')).leases.map(({ session }) => session)).toEqual(['s1', 's2', null]);
  });

  both('counts a lease by the first filter that leaves it out: project, session, reserved', async (verbs, rig) => {
    const all = [await rig.node({ project: 'p2' }), await rig.node(), await rig.node(), await rig.node()];
    const [far, other, parked, plain] = all as [string, string, string, string];
    await verbs.reserve('ana', far, { session: 's2' });
    await verbs.reserve('ana', other, { session: 's2' });
    await verbs.reserve('ana', parked, { session: 's1' });
    await verbs.claim('ana', plain, { session: 's1' });
    expect(await verbs.renewHeld('ana', { session: 's1', project: 'p1' })).toMatchObject({
      landed: [plain],
      skipped: { project: 1, session: 1, reserved: 1 },
    });
  });

  both('keeps the agent that calls, and takes another agent of the same owner', async (verbs, rig) => {
    const node = await rig.node();
    await verbs.claim('ana-one', node);
    expect(await verbs.renewHeld('ana-two')).toMatchObject({
      landed: [node],
      leases: [{ by: 'ana', agent: 'ana-two' }],
    });
  });
});

describe('the drain', () => {
  both('takes the same filters, and reservations too', async (verbs, rig) => {
    const [parked, plain] = (await rig.nodes(2)) as [string, string];
    const far = await rig.node({ project: 'p2' });
    await verbs.reserve('ana', parked, { session: 's1' });
    await verbs.claim('ana', plain);
    await verbs.claim('ana', far, { session: 's1' });
    expect(await verbs.releaseHeld('ana', { session: 's1', project: 'p1' })).toMatchObject({ landed: [parked] });
    expect(await verbs.releaseHeld('ana', { project: 'p2' })).toMatchObject({ landed: [far] });
    expect(await verbs.releaseHeld('ana')).toMatchObject({ landed: [plain] });
  });

  both('leaves alone what was taken by a newer grant meanwhile', async (verbs, rig) => {
    const node = await rig.node();
    await verbs.claim('ana', node);
    rig.beforeNextWrite(async () => {
      await verbs.release('ana', node);
      await verbs.claim('ana', node);
    });
    expect(await verbs.releaseHeld('ana')).toMatchObject({ status: 'released', landed: [], count: 0 });
    expect(await verbs.read('ana', node)).toMatchObject({ lease: { fence: '2' }, assigned: ['ana'] });
  });
});

describe('only GraphQL has', () => {
  it('extendLeases, reserveLeases and releaseLeases, each item as the single verb', async () => {
    const nodeIds = [...(await doors().nodes(2)), 'no-such-node'];
    const run = async (field: string, input: object) =>
      (await doors().graphql('ana', DOCUMENTS[field] as string, { input: { nodeIds, ...input } })).data[field];
    const extended = await run('extendLeases', { ms: 1e12, session: 's1' });
    expect(extended).toMatchObject({
      status: 'PARTIAL',
      count: 2,
      expiresInMs: claimTtlMaxMs,
      reclaimed: nodeIds.slice(0, 2),
    });
    expect(extended.results[0]).toMatchObject({ status: 'EXTENDED', cappedToMax: true, lease: { session: 's1' } });
    const reserved = await run('reserveLeases', {});
    expect(reserved).toMatchObject({ status: 'PARTIAL', count: 2, expiresInMs: reserveGraceMs });
    expect(reserved.results[1]).toMatchObject({ status: 'RESERVED', graceWindowMs: reserveGraceMs });
    const released = await run('releaseLeases', {});
    expect(released).toMatchObject({ status: 'PARTIAL', count: 2, expiresInMs: null });
    expect(released.results).toMatchObject([
      { status: 'RELEASED', edge: 'REMOVED' },
      { status: 'RELEASED', edge: 'REMOVED' },
      { __typename: 'NodeNotFound' },
    ]);
  });

  it('a bulk extension whose ms is refused as a whole, and does nothing', async () => {
    const nodeIds = await doors().nodes(1);
    const { data, errors } = await doors().graphql('ana', DOCUMENTS.extendLeases as string, {
      input: { nodeIds, ms: 0 },
    });
    expect(data).toEqual({ extendLeases: null });
    expect(errors).toMatchObject([{ path: ['extendLeases'], extensions: { code: 'INVALID_INPUT', field: 'ms' } }]);
    expect((await doors().rest('ana', 'GET', `/v1/nodes/${nodeIds[0]}`)).body).not.toHaveProperty('lease');
  });
});

both('a batch leaves the horizon of each lease to its own project', async (verbs, rig) => {
  await rig.policy({ claim_ttl_ms: 2 * MINUTE }, 'p2');
  const [long, short] = [await rig.node(), await rig.node({ project: 'p2' })];
  const { leases } = await verbs.claimMany('ana', [long, short]);
  expect(leases.map(({ expiresAt }) => expiresAt - rig.now)).toEqual([claimTtlMs, 2 * MINUTE]);
});
