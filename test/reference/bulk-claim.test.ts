import { expect } from 'vitest';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import type { Doors } from '../support/doors.ts';
import { DOCUMENTS } from '../support/graphql-documents.ts';
import { describeStatements, onBoth } from '../support/statements.ts';
import type { Verbs } from '../support/verbs.ts';

const { claimTtlMs } = DEFAULT_POLICY;
const MINUTE = 60_000;

/** A free node, and one that bo holds. */
async function freeAndTaken(verbs: Verbs, doors: Doors): Promise<[string, string]> {
  const [free, taken] = (await doors.nodes(2)) as [string, string];
  await verbs.claim('bo', taken);
  return [free, taken];
}

describeStatements('Bulk claim', (statement) => {
  statement(101, {
    async rest(_verbs, doors) {
      const nodes = await doors.nodes(2);
      const { status, body } = await doors.rest('ana', 'POST', '/v1/queue/claim', { ids: nodes });
      expect([status, body.claimed]).toEqual([200, nodes]);
    },
    async graphql(_verbs, doors) {
      const nodeIds = await doors.nodes(2);
      const { data } = await doors.graphql(
        'ana',
        `mutation ($ids: [ID!]!) { claimLeases(input: { nodeIds: $ids }) {
           results { ... on ClaimLeaseSuccess { lease { nodeId } } } } }`,
        { ids: nodeIds },
      );
      expect(data.claimLeases.results).toEqual(nodeIds.map((nodeId) => ({ lease: { nodeId } })));
    },
  });
  statement(
    102,
    onBoth(async (verbs, doors) => {
      const nodes = await doors.nodes(2);
      const { leases } = await verbs.claimMany('ana', nodes, { session: 's1' });
      expect(leases.map(({ session }) => session)).toEqual(['s1', 's1']);
    }),
  );
  statement(103, {
    async rest(_verbs, doors) {
      for (const body of [{}, { ids: null }, { session: 's1' }]) {
        const { status, body: told } = await doors.rest('ana', 'POST', '/v1/queue/claim', body);
        expect([status, told.error.code, told.error.details]).toEqual([422, 'invalid_input', { field: 'ids' }]);
      }
    },
    async graphql(_verbs, doors) {
      for (const input of [{}, { nodeIds: null }, { session: 's1' }]) {
        const { data, errors } = await doors.graphql('ana', DOCUMENTS.claimLeases as string, { input });
        expect(data).toBeUndefined();
        expect(errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT' } }]);
      }
    },
  });
  statement(
    104,
    onBoth(async (verbs, doors) => {
      const [free, own] = (await doors.nodes(2)) as [string, string];
      await verbs.claim('ana', own);
      await doors.pass(MINUTE);
      const { leases } = await verbs.claimMany('ana', [free, own]);
      const end = doors.now + claimTtlMs;
      expect(leases).toMatchObject([
        { nodeId: free, fence: '1', claimedAt: doors.now, expiresAt: end },
        { nodeId: own, fence: '1', claimedAt: doors.now - MINUTE, expiresAt: end },
      ]);
    }),
  );
  statement(105, {
    async rest(verbs, doors) {
      const ids = await freeAndTaken(verbs, doors);
      const { body } = await doors.rest('ana', 'POST', '/v1/queue/claim', { ids });
      expect(body.failed).toMatchObject([{ node_id: ids[1], code: 'already_claimed' }]);
    },
    async graphql(verbs, doors) {
      const nodeIds = await freeAndTaken(verbs, doors);
      const { data } = await doors.graphql('ana', DOCUMENTS.claimLeases as string, { input: { nodeIds } });
      expect(data.claimLeases.results[1]).toMatchObject({ __typename: 'LeaseConflict', nodeId: nodeIds[1] });
    },
  });
  statement(
    106,
    onBoth(async (verbs, doors) => {
      const ids = await freeAndTaken(verbs, doors);
      const { failed } = await verbs.claimMany('ana', ids);
      expect(failed).toMatchObject([{ holder: { nodeId: ids[1], by: 'bo', expiresAt: doors.now + claimTtlMs } }]);
    }),
  );
  statement(
    107,
    onBoth(async (verbs, doors) => {
      const [free, taken] = await freeAndTaken(verbs, doors);
      const other = await doors.node();
      expect(await verbs.claimMany('ana', [free, taken, other])).toMatchObject({ landed: [free, other] });
    }),
  );
  statement(
    108,
    onBoth(async (verbs, doors) => {
      const [free, taken] = await freeAndTaken(verbs, doors);
      await verbs.claimMany('ana', [free, taken, 'no-such-node']);
      expect(await verbs.read('cleo', free)).toMatchObject({ assigned: ['ana'], lease: { by: 'ana' } });
      expect(await verbs.read('cleo', taken)).toMatchObject({ assigned: ['bo'], lease: { by: 'bo' } });
    }),
  );
  statement(109, {
    async rest(_verbs, doors) {
      const { body } = await doors.rest('ana', 'POST', '/v1/queue/claim', { ids: await doors.nodes(1) });
      expect(Object.keys(body).sort()).toEqual(
        ['ok', 'status', 'count', 'claimed', 'leases', 'failed', 'expires_in_ms'].sort(),
      );
    },
    async graphql(_verbs, doors) {
      const { data } = await doors.graphql('ana', DOCUMENTS.claimLeases as string, {
        input: { nodeIds: await doors.nodes(1) },
      });
      expect(data.claimLeases).toMatchObject({
        status: 'CLAIMED',
        count: 1,
        results: [{ __typename: 'ClaimLeaseSuccess', edge: 'ADDED', renewAfterMs: expect.any(Number) }],
      });
    },
  });
  statement(110, {
    async rest(verbs, doors) {
      const [free, taken] = await freeAndTaken(verbs, doors);
      const other = await doors.node();
      const { body } = await doors.rest('ana', 'POST', '/v1/queue/claim', { ids: [other, taken, free] });
      expect(body.claimed).toEqual([other, free]);
      expect(body.leases).toMatchObject([{ node_id: other }, { node_id: free }]);
      expect(body.count).toBe(2);
    },
    async graphql(verbs, doors) {
      const [free, taken] = await freeAndTaken(verbs, doors);
      const other = await doors.node();
      const { data } = await doors.graphql('ana', DOCUMENTS.claimLeases as string, {
        input: { nodeIds: [other, taken, free] },
      });
      expect(data.claimLeases.results).toMatchObject([
        { lease: { nodeId: other } },
        { nodeId: taken },
        { lease: { nodeId: free } },
      ]);
      expect(data.claimLeases.count).toBe(2);
    },
  });
  statement(111, {
    async rest(verbs, doors) {
      const [, taken] = await freeAndTaken(verbs, doors);
      const { body } = await doors.rest('ana', 'POST', '/v1/queue/claim', { ids: [taken, 'no-such-node'] });
      expect(body.failed).toEqual([
        {
          node_id: taken,
          code: 'already_claimed',
          message: expect.stringContaining('held by bo'),
          holder: expect.objectContaining({ by: 'bo', fence: '1' }),
        },
        { node_id: 'no-such-node', code: 'not_found', message: expect.stringContaining('no node') },
      ]);
    },
    async graphql(verbs, doors) {
      const [, taken] = await freeAndTaken(verbs, doors);
      const { data } = await doors.graphql('ana', DOCUMENTS.claimLeases as string, {
        input: { nodeIds: [taken, 'no-such-node'] },
      });
      expect(data.claimLeases.results).toEqual([
        {
          __typename: 'LeaseConflict',
          nodeId: taken,
          code: 'CONFLICT',
          message: expect.stringContaining('held by bo'),
          holder: expect.objectContaining({ fence: '1' }),
        },
        {
          __typename: 'NodeNotFound',
          nodeId: 'no-such-node',
          code: 'NOT_FOUND',
          message: expect.stringContaining('no node'),
        },
      ]);
    },
  });
  statement(
    112,
    onBoth(async (verbs, doors) => {
      expect(await verbs.claimMany('ana', await doors.nodes(2))).toMatchObject({ status: 'claimed', failed: [] });
    }),
  );
  statement(
    113,
    onBoth(async (verbs, doors) => {
      expect(await verbs.claimMany('ana', await freeAndTaken(verbs, doors))).toMatchObject({
        status: 'partial',
        count: 1,
      });
    }),
  );
  statement(
    114,
    onBoth(async (verbs, doors) => {
      const [, taken] = await freeAndTaken(verbs, doors);
      expect(await verbs.claimMany('ana', [taken, 'no-such-node'])).toMatchObject({ status: 'refused', count: 0 });
    }),
  );
  statement(
    115,
    onBoth(async (verbs, doors) => {
      const [long, short] = [await doors.node(), await doors.node({ project: 'p2' })];
      await doors.policy({ claim_ttl_ms: 5 * MINUTE }, 'p2');
      expect(await verbs.claimMany('ana', [long, short])).toMatchObject({ expiresInMs: 5 * MINUTE });
      await verbs.extend('ana', long, MINUTE);
      await doors.pass(MINUTE);
      expect(await verbs.claimMany('ana', [long])).toMatchObject({ expiresInMs: claimTtlMs });
    }),
  );
  statement(116, {
    async rest(_verbs, doors) {
      const { body } = await doors.rest('ana', 'POST', '/v1/queue/claim', { ids: [] });
      expect(body).toEqual({ ok: true, status: 'claimed', count: 0, claimed: [], leases: [], failed: [] });
    },
    async graphql(_verbs, doors) {
      const { data } = await doors.graphql('ana', DOCUMENTS.claimLeases as string, { input: { nodeIds: [] } });
      expect(data.claimLeases).toMatchObject({ status: 'CLAIMED', count: 0, results: [], expiresInMs: null });
    },
  });
  statement(117, {
    async rest(_verbs, doors) {
      const { body } = await doors.rest('ana', 'POST', '/v1/queue/claim', { ids: ['no-such-node'] });
      expect(body).not.toHaveProperty('expires_in_ms');
    },
    async graphql(_verbs, doors) {
      const { data } = await doors.graphql('ana', DOCUMENTS.claimLeases as string, { input: { nodeIds: ['none'] } });
      expect(data.claimLeases.expiresInMs).toBeNull();
    },
  });
  statement(118, {
    async rest(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana-one', node, { dispatch: 'launch 1' });
      const batch = await verbs.claimMany('ana-two', [node], { dispatch: 'launch 2', force: true });
      expect(batch).toMatchObject({ status: 'claimed', leases: [{ fence: '1' }] });
      expect(await verbs.claim('ana-two', node, { dispatch: 'launch 2' })).toMatchObject({ code: 'conflict' });
    },
    async graphql(verbs, doors) {
      const nodes = await doors.nodes(1);
      for (const field of [{ dispatch: 'launch 2' }, { force: true }]) {
        await expect(verbs.claimMany('ana', nodes, field)).rejects.toThrow('is not defined by type "ClaimLeasesInput"');
      }
      expect(await verbs.read('ana', nodes[0] as string)).toMatchObject({ lease: null });
    },
  });
});
