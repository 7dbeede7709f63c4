import { describe, expect } from 'vitest';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import { eachDoor, useDoors } from '../support/both-doors.ts';

/** What the contract adds to the reference for the verbs on one node. */
const { claimTtlMs, claimTtlMaxMs, reserveGraceMs } = DEFAULT_POLICY;
const MINUTE = 60_000;
const doors = useDoors();
const both = eachDoor(doors);

describe('the horizon', () => {
  both('a lease that was extended is not shortened by renew or claim', async (verbs, rig) => {
    const node = await rig.node();
    const { lease } = await verbs.extend('ana', node, 120 * MINUTE);
    expect(await verbs.renew('ana', node)).toMatchObject({ lease: { expiresAt: lease?.expiresAt } });
    expect(await verbs.claim('ana', node)).toMatchObject({ lease: { expiresAt: lease?.expiresAt } });
  });

  both('reserve ends at the grace window even if the lease ran longer', async (verbs, rig) => {
    await rig.policy({ reserve_grace_ms: 5 * MINUTE });
    const node = await rig.node();
    await verbs.claim('ana', node);
    expect(await verbs.reserve('ana', node)).toMatchObject({ expiresInMs: 5 * MINUTE, lease: { fence: '1' } });
  });

  both('leaving a reservation moves the end back to an ordinary one, also before a stretch', async (verbs, rig) => {
    const [renewed, claimed, extended] = (await rig.nodes(3)) as [string, string, string];
    for (const node of [renewed, claimed, extended]) await verbs.reserve('ana', node, { session: 's1' });
    const ordinary = { reserved: false, session: null, fence: '1' };
    expect(await verbs.renew('ana', renewed)).toMatchObject({ expiresInMs: claimTtlMs, lease: ordinary });
    expect(await verbs.claim('ana', claimed)).toMatchObject({ expiresInMs: claimTtlMs, lease: ordinary });
    expect(await verbs.extend('ana', extended, MINUTE)).toMatchObject({
      expiresInMs: claimTtlMs + MINUTE,
      lease: ordinary,
    });
  });

  both("the project's duration wins, up and down, and a change moves no lease", async (verbs, rig) => {
    await rig.policy({ claim_ttl_ms: 10 * MINUTE });
    await rig.policy({ claim_ttl_ms: 60 * MINUTE }, 'p1');
    const [ofProject, ofNone] = [await rig.node(), await rig.node({ project: null })];
    expect(await verbs.claim('ana', ofProject)).toMatchObject({ expiresInMs: 60 * MINUTE });
    expect(await verbs.claim('ana', ofNone)).toMatchObject({ expiresInMs: 10 * MINUTE });
    await rig.policy({ claim_ttl_ms: MINUTE }, 'p1');
    expect(await verbs.read('ana', ofProject)).toMatchObject({ lease: { expiresAt: rig.now + 60 * MINUTE } });
    expect(await verbs.renew('ana', ofProject)).toMatchObject({ expiresInMs: 60 * MINUTE });
  });

  both('renew_after_ms is a third to a half of the time left, and absent for a reservation', async (verbs, rig) => {
    const node = await rig.node();
    for (const answer of [
      await verbs.claim('ana', node),
      await verbs.renew('ana', node),
      await verbs.extend('ana', node, MINUTE),
    ]) {
      expect(answer.renewAfterMs).toBeGreaterThanOrEqual((answer.expiresInMs ?? 0) / 3);
      expect(answer.renewAfterMs).toBeLessThanOrEqual((answer.expiresInMs ?? 0) / 2);
    }
    expect(await verbs.reserve('ana', node)).toMatchObject({ renewAfterMs: null });
    expect(await verbs.release('ana', node)).toMatchObject({ renewAfterMs: null, expiresInMs: null });
  });

  both('an extension that would pass the ceiling is flagged also when the end can not move', async (verbs, rig) => {
    const node = await rig.node();
    await verbs.extend('ana', node, claimTtlMaxMs);
    expect(await verbs.extend('ana', node, 1)).toMatchObject({ capped: true, ceilingMs: claimTtlMaxMs });
  });
});

describe('the fence', () => {
  both('rises by every grant and never repeats', async (verbs, rig) => {
    const node = await rig.node();
    const grants: (string | undefined)[] = [];
    for (const who of ['ana', 'bo', 'ana']) {
      grants.push((await verbs.claim(who, node)).lease?.fence);
      await verbs.release(who, node);
    }
    await verbs.claim('ana', node);
    await rig.pass(claimTtlMs);
    grants.push((await verbs.renew('ana', node)).lease?.fence);
    expect(grants).toEqual(['1', '2', '3', '5']);
  });

  both('that is stale refuses, and nothing is taken back', async (verbs, rig) => {
    const node = await rig.node();
    await verbs.claim('ana', node);
    await verbs.release('ana', node);
    for (const answer of [
      await verbs.renew('ana', node, { fence: '1' }),
      await verbs.extend('ana', node, MINUTE, { fence: '1' }),
      await verbs.reserve('ana', node, { fence: '1' }),
    ]) {
      expect(answer).toMatchObject({ code: 'lease_lost', holder: null });
    }
    expect(await verbs.read('ana', node)).toMatchObject({ lease: null, assigned: [] });
  });

  both('of the lease in force lets the verb act', async (verbs, rig) => {
    const node = await rig.node();
    await verbs.claim('ana', node);
    expect(await verbs.renew('ana', node, { fence: '1' })).toMatchObject({ status: 'renewed' });
    expect(await verbs.extend('ana', node, MINUTE, { fence: '1' })).toMatchObject({ status: 'extended' });
    expect(await verbs.reserve('ana', node, { fence: '1' })).toMatchObject({ status: 'reserved' });
    expect(await verbs.release('ana', node, { fence: '1' })).toMatchObject({ status: 'released' });
  });

  both('never undoes a reservation', async (verbs, rig) => {
    const node = await rig.node();
    const { lease } = await verbs.reserve('ana', node);
    expect(await verbs.renew('ana', node, { fence: '1' })).toMatchObject({ code: 'lease_lost', holder: lease });
    expect(await verbs.extend('ana', node, 1, { fence: '1' })).toMatchObject({ code: 'lease_lost', holder: lease });
    expect(await verbs.read('ana', node)).toMatchObject({ lease });
  });

  both('in a release: nothing held is fine, a newer lease is kept', async (verbs, rig) => {
    const node = await rig.node();
    await verbs.claim('ana', node);
    await verbs.release('ana', node, { fence: '1' });
    expect(await verbs.release('ana', node, { fence: '1' })).toMatchObject({ status: 'released', edge: 'skipped' });
    const { lease } = await verbs.claim('ana', node);
    expect(await verbs.release('ana', node, { fence: '1' })).toMatchObject({ code: 'lease_lost', holder: lease });
    expect(await verbs.read('ana', node)).toMatchObject({ lease, assigned: ['ana'] });
  });

  both('that is no decimal string is invalid input, before anything else is asked', async (verbs) => {
    for (const fence of ['', '-1', '1.0', ' 1', '0x1', 'one']) {
      expect(await verbs.renew('ana', 'no-such-node', { fence })).toMatchObject({
        code: 'invalid_input',
        field: 'fence',
      });
    }
    expect(await verbs.renew('ana', 'no-such-node', { fence: '9'.repeat(40) })).toMatchObject({ code: 'not_found' });
  });
});

describe('the nonce', () => {
  both('is taken by a lease that has none, and force without a difference is ignored', async (verbs, rig) => {
    const node = await rig.node();
    await verbs.claim('ana', node);
    expect(await verbs.claim('ana', node, { force: true })).toMatchObject({ lease: { fence: '1' } });
    expect(await verbs.claim('ana', node, { dispatch: 'd1', force: true })).toMatchObject({ lease: { fence: '1' } });
    expect(await verbs.claim('ana', node, { dispatch: 'd2' })).toMatchObject({ code: 'conflict' });
  });

  both('is kept by renew, extend and a claim without one, and cleared by reserve', async (verbs, rig) => {
    const node = await rig.node();
    await verbs.claim('ana', node, { dispatch: 'd1' });
    await verbs.renew('ana', node);
    await verbs.extend('ana', node, 1);
    await verbs.claim('ana', node);
    expect(await verbs.claim('ana', node, { dispatch: 'd2' })).toMatchObject({ code: 'conflict' });
    await verbs.reserve('ana', node);
    expect(await verbs.claim('ana', node, { dispatch: 'd2' })).toMatchObject({
      lease: { fence: '1', reserved: false },
    });
  });
});

describe('refusals come in one order', () => {
  both('a type without lease, for release too', async (verbs, rig) => {
    const note = await rig.node({ type: 'note' });
    for (const answer of [
      await verbs.claim('ana', note),
      await verbs.renew('ana', note, { fence: '7' }),
      await verbs.extend('ana', note, 1),
      await verbs.reserve('ana', note),
      await verbs.release('ana', note),
    ]) {
      expect(answer).toMatchObject({ code: 'invalid_node', holder: null });
    }
    expect(await verbs.release('ana', 'no-such-node')).toMatchObject({ code: 'not_found' });
  });

  both('a terminal node refuses a grant only', async (verbs, rig) => {
    const [held, free] = (await rig.nodes(2)) as [string, string];
    await verbs.claim('ana', held);
    await verbs.setStatus('bo', held, 'done');
    await verbs.setStatus('bo', free, 'done');
    expect(await verbs.renew('ana', held)).toMatchObject({ status: 'renewed' });
    expect(await verbs.extend('ana', held, 1)).toMatchObject({ status: 'extended' });
    expect(await verbs.reserve('ana', held)).toMatchObject({ expiresInMs: reserveGraceMs });
    expect(await verbs.claim('bo', held)).toMatchObject({ code: 'conflict' });
    expect(await verbs.release('ana', held)).toMatchObject({ status: 'released' });
    for (const answer of [
      await verbs.claim('ana', free),
      await verbs.renew('ana', free),
      await verbs.extend('ana', free, 1),
      await verbs.reserve('ana', held),
    ]) {
      expect(answer).toMatchObject({ code: 'not_ready' });
    }
  });

  both('the limit of leases refuses a grant only, and names itself', async (verbs, rig) => {
    await rig.policy({ held_max: 2 });
    const [one, two, three] = (await rig.nodes(3)) as [string, string, string];
    await verbs.claim('dan', one);
    await verbs.claim('dan', two);
    expect(await verbs.claim('dan', three)).toMatchObject({ code: 'limit_reached', limit: 2 });
    expect(await verbs.renew('dan', one)).toMatchObject({ status: 'renewed' });
    await verbs.release('dan', two);
    expect(await verbs.claim('dan', three)).toMatchObject({ status: 'claimed' });
  });

  both("another tenant's node is as if it were not", async (verbs, rig) => {
    const node = await rig.node();
    await verbs.claim('ana', node);
    for (const answer of [
      await verbs.claim('zoe', node),
      await verbs.renew('zoe', node),
      await verbs.extend('zoe', node, 1),
      await verbs.reserve('zoe', node),
      await verbs.release('zoe', node),
      await verbs.setStatus('zoe', node, 'done'),
    ]) {
      expect(answer).toMatchObject({ code: 'not_found' });
      expect(answer.message).not.toContain('ana');
    }
    expect(await verbs.read('zoe', node)).toBeNull();
  });
});
