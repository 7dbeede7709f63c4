import { expect } from 'vitest';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import { ORIGIN } from '../support/doors.ts';
import { DOCUMENTS } from '../support/graphql-documents.ts';
import { describeStatements, onBoth } from '../support/statements.ts';

const { claimTtlMs, reserveGraceMs } = DEFAULT_POLICY;
const MINUTE = 60_000;

describeStatements('Claim', (statement) => {
  statement(11, {
    async rest(_verbs, doors) {
      const node = await doors.node();
      const { status, body } = await doors.rest('ana', 'POST', `/v1/nodes/${node}/claim`, {});
      expect(status).toBe(200);
      expect(body.lease).toMatchObject({ node_id: node, by: 'ana' });
    },
    async graphql(_verbs, doors) {
      const node = await doors.node();
      const { data } = await doors.graphql(
        'ana',
        `mutation { claimLease(input: { nodeId: "${node}" }) { ... on ClaimLeaseSuccess { lease { nodeId } } } }`,
      );
      expect(data.claimLease).toEqual({ lease: { nodeId: node } });
    },
  });
  statement(12, {
    async rest(verbs, doors) {
      const node = await doors.node();
      const bare = new Request(`${ORIGIN}/v1/nodes/${node}/claim`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${doors.token('ana')}` },
      });
      expect((await doors.fetch(bare)).status).toBe(200);
      expect(await verbs.claim('ana', node, { session: 's1' })).toMatchObject({ lease: { session: 's1' } });
      expect(await verbs.claim('ana', node, { session: 1 })).toMatchObject({ code: 'invalid_input', field: 'session' });
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      expect(await verbs.claim('ana', node)).toMatchObject({ lease: { session: null } });
      expect(await verbs.claim('ana', node, { session: 's1' })).toMatchObject({ lease: { session: 's1' } });
      await expect(verbs.claim('ana', node, { session: 1 })).rejects.toThrow('session');
    },
  });
  statement(13, {
    async rest(_verbs, doors) {
      const { body } = await doors.rest('ana', 'POST', `/v1/nodes/${await doors.node()}/claim`, {});
      expect(body.edge).toBe('added');
    },
    async graphql(_verbs, doors) {
      const { data } = await doors.graphql('ana', DOCUMENTS.claimLease as string, {
        input: { nodeId: await doors.node() },
      });
      expect(data.claimLease.edge).toBe('ADDED');
    },
  });
  statement(
    14,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      expect(await verbs.claim('ana', node)).toMatchObject({ edge: 'skipped' });
      await doors.pass(claimTtlMs);
      expect(await verbs.claim('ana', node)).toMatchObject({ edge: 'skipped' });
      expect(await verbs.read('ana', node)).toMatchObject({ assigned: ['ana'] });
    }),
  );
  statement(15, {
    async rest(_verbs, doors) {
      const { body } = await doors.rest('ana', 'POST', `/v1/nodes/${await doors.node()}/claim`, {});
      expect(Object.keys(body).sort()).toEqual(['edge', 'expires_in_ms', 'lease', 'ok', 'renew_after_ms', 'status']);
      expect(body.ok).toBe(true);
    },
    async graphql(_verbs, doors) {
      const { data } = await doors.graphql('ana', DOCUMENTS.claimLease as string, {
        input: { nodeId: await doors.node() },
      });
      expect(data.claimLease).toMatchObject({
        __typename: 'ClaimLeaseSuccess',
        lease: expect.any(Object),
        expiresInMs: claimTtlMs,
        edge: 'ADDED',
      });
    },
  });
  statement(16, {
    async rest(_verbs, doors) {
      const { body } = await doors.rest('ana', 'POST', `/v1/nodes/${await doors.node()}/claim`, {});
      expect(body.status).toBe('claimed');
    },
    async graphql(_verbs, doors) {
      const { data } = await doors.graphql('ana', DOCUMENTS.claimLease as string, {
        input: { nodeId: await doors.node() },
      });
      expect(data.claimLease.status).toBe('CLAIMED');
    },
  });
  statement(17, {
    async rest(_verbs, doors) {
      const node = await doors.node();
      const { body } = await doors.rest('ana', 'POST', `/v1/nodes/${node}/claim`, { session: 'run 7' });
      expect(body.lease).toEqual({
        node_id: node,
        by: 'ana',
        by_name: 'Ana',
        expires: doors.now + claimTtlMs,
        expires_at: new Date(doors.now + claimTtlMs).toISOString(),
        session: 'run 7',
        claimed_at: new Date(doors.now).toISOString(),
        fence: '1',
      });
    },
    async graphql(_verbs, doors) {
      const node = await doors.node();
      const { data } = await doors.graphql('ana-one', DOCUMENTS.claimLease as string, {
        input: { nodeId: node, session: 'run 7' },
      });
      expect(data.claimLease.lease).toEqual({
        nodeId: node,
        by: { personId: 'ana', name: 'Ana' },
        agent: { agentId: 'ana-one' },
        session: 'run 7',
        claimedAt: new Date(doors.now).toISOString(),
        expiresAt: new Date(doors.now + claimTtlMs).toISOString(),
        expiresInMs: claimTtlMs,
        reserved: false,
        fence: '1',
      });
    },
  });
  statement(
    18,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      expect(await verbs.claim('ana', node)).toMatchObject({ expiresInMs: claimTtlMs });
      await doors.pass(MINUTE);
      expect(await verbs.renew('ana', node)).toMatchObject({ expiresInMs: claimTtlMs });
      await doors.pass(MINUTE);
      expect(await verbs.extend('ana', node, 5 * MINUTE)).toMatchObject({ expiresInMs: claimTtlMs + 4 * MINUTE });
      await doors.pass(MINUTE);
      expect(await verbs.claim('ana', node)).toMatchObject({ expiresInMs: claimTtlMs + 3 * MINUTE });
      expect(await verbs.reserve('ana', node)).toMatchObject({ expiresInMs: reserveGraceMs });
    }),
  );
  statement(
    19,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      let { expiresInMs } = await verbs.claim('ana', node);
      for (let beat = 0; beat < 3; beat += 1) {
        await doors.pass((expiresInMs ?? 0) - 1);
        const renewed = await verbs.renew('ana', node);
        expect(renewed).toMatchObject({ reclaimed: false, lease: { fence: '1' } });
        ({ expiresInMs } = renewed);
      }
    }),
  );
  statement(20, {
    async rest(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { status, body } = await doors.rest('bo', 'POST', `/v1/nodes/${node}/claim`, {});
      expect([status, body.error.code]).toEqual([409, 'conflict']);
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { data, errors } = await doors.graphql('bo', DOCUMENTS.claimLease as string, { input: { nodeId: node } });
      expect(errors).toBeUndefined();
      expect(data.claimLease).toMatchObject({ __typename: 'LeaseConflict', code: 'CONFLICT', nodeId: node });
    },
  });
  statement(
    21,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const refused = await verbs.claim('bo', node);
      expect(refused.message).toContain('held by ana');
      expect(refused.holder).toMatchObject({ nodeId: node, by: 'ana', byName: 'Ana' });
    }),
  );
  statement(
    22,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { lease } = await verbs.claim('ana', node);
      const refused = await verbs.claim('bo', node);
      expect(refused.holder).toEqual(lease);
      expect(refused.message).toContain(new Date(doors.now + claimTtlMs).toISOString());
    }),
  );
  statement(
    23,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { lease } = await verbs.claim('ana', node);
      await doors.pass(MINUTE);
      const again = await verbs.claim('ana', node);
      expect(again.lease).toEqual({ ...lease, expiresAt: doors.now + claimTtlMs });
    }),
  );
  statement(
    24,
    onBoth(async (verbs, doors) => {
      const [mine, others] = (await doors.nodes(2)) as [string, string];
      await verbs.claim('ana', mine, { session: 's1' });
      await verbs.claim('ana', others, { session: 's2' });
      expect(await verbs.renewHeld('ana', { session: 's1' })).toMatchObject({
        landed: [mine],
        skipped: { session: 1 },
      });
    }),
  );
  statement(
    25,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      expect(await verbs.claim('ana', node)).toMatchObject({ lease: { session: null } });
      for (const session of ['s1', 's2']) {
        expect(await verbs.renew('ana', node, { session })).toMatchObject({ status: 'renewed', lease: { fence: '1' } });
      }
    }),
  );
  statement(
    26,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      await verbs.renew('ana', node, { session: 'known at last' });
      expect(await verbs.renewHeld('ana', { session: 'known at last' })).toMatchObject({ landed: [node] });
    }),
  );
  statement(
    27,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana-one', node, { dispatch: 'launch 1' });
      expect(await verbs.claim('ana-one', node, { dispatch: 'launch 1' })).toMatchObject({ lease: { fence: '1' } });
      expect(await verbs.claim('ana-two', node, { dispatch: 'launch 2' })).toMatchObject({
        code: 'conflict',
        holder: { by: 'ana', agent: 'ana-one', fence: '1' },
      });
    }),
  );
  statement(
    28,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana-one', node, { dispatch: 'launch 1' });
      expect(await verbs.claim('ana-two', node, { dispatch: 'launch 2', force: true })).toMatchObject({
        status: 'claimed',
        lease: { by: 'ana', agent: 'ana-two', fence: '2' },
      });
      expect(await verbs.claim('bo', node, { dispatch: 'launch 3', force: true })).toMatchObject({ code: 'conflict' });
    }),
  );
});
