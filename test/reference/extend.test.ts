import { expect } from 'vitest';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import { DOCUMENTS } from '../support/graphql-documents.ts';
import { describeStatements, onBoth } from '../support/statements.ts';

const { claimTtlMs, claimTtlMaxMs } = DEFAULT_POLICY;
const MINUTE = 60_000;
const TWO_HOURS = 7_200_000;

describeStatements('Extend', (statement) => {
  statement(46, {
    async rest(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { status, body } = await doors.rest('ana', 'POST', `/v1/nodes/${node}/extend`, { ms: TWO_HOURS });
      expect([status, body.lease.expires]).toEqual([200, doors.now + claimTtlMs + TWO_HOURS]);
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { data } = await doors.graphql(
        'ana',
        `mutation { extendLease(input: { nodeId: "${node}", ms: ${TWO_HOURS} }) {
           ... on ExtendLeaseSuccess { lease { expiresAt } } } }`,
      );
      const end = new Date(doors.now + claimTtlMs + TWO_HOURS).toISOString();
      expect(data.extendLease).toEqual({ lease: { expiresAt: end } });
    },
  });
  statement(
    47,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { lease } = await verbs.claim('ana', node);
      await doors.pass(MINUTE);
      const { lease: stretched } = await verbs.extend('ana', node, TWO_HOURS);
      expect(stretched).toEqual({ ...lease, expiresAt: (lease?.expiresAt ?? 0) + TWO_HOURS });
      await doors.pass(TWO_HOURS + claimTtlMs - MINUTE - 1);
      expect(await verbs.claim('bo', node)).toMatchObject({ code: 'conflict' });
    }),
  );
  statement(
    48,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      await doors.pass(claimTtlMs);
      expect(await verbs.extend('ana', node, TWO_HOURS)).toMatchObject({
        reclaimed: true,
        expiresInMs: claimTtlMs + TWO_HOURS,
        lease: { fence: '2', claimedAt: doors.now },
      });
      expect(await verbs.extend('ana', node, 1)).toMatchObject({ reclaimed: false });
    }),
  );
  statement(
    49,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      expect(await verbs.extend('ana', node, MINUTE)).toMatchObject({
        reclaimed: true,
        expiresInMs: claimTtlMs + MINUTE,
        lease: { by: 'ana' },
      });
      expect(await verbs.read('bo', node)).toMatchObject({ assigned: ['ana'] });
    }),
  );
  statement(
    50,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      expect(await verbs.extend('ana', node, MINUTE)).toMatchObject({ lease: { session: null } });
      expect(await verbs.extend('ana', node, MINUTE, { session: 's1' })).toMatchObject({ lease: { session: 's1' } });
    }),
  );
  statement(51, {
    async rest(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { body } = await doors.rest('ana', 'POST', `/v1/nodes/${node}/extend`, { ms: MINUTE });
      expect(body).toEqual({
        ok: true,
        status: 'extended',
        lease: expect.objectContaining({ node_id: node }),
        expires_in_ms: claimTtlMs + MINUTE,
        renew_after_ms: expect.any(Number),
      });
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { data } = await doors.graphql('ana', DOCUMENTS.extendLease as string, {
        input: { nodeId: node, ms: MINUTE },
      });
      expect(data.extendLease).toMatchObject({
        __typename: 'ExtendLeaseSuccess',
        status: 'EXTENDED',
        lease: { nodeId: node },
        expiresInMs: claimTtlMs + MINUTE,
      });
    },
  });
  statement(
    52,
    onBoth(async (verbs, doors) => {
      await doors.policy({ claim_ttl_max_ms: 2 * TWO_HOURS });
      const node = await doors.node();
      await verbs.extend('ana', node, 100 * TWO_HOURS);
      await doors.pass(MINUTE);
      expect(await verbs.extend('ana', node, 100 * TWO_HOURS)).toMatchObject({ expiresInMs: 2 * TWO_HOURS });
    }),
  );
  statement(
    53,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      expect(await verbs.extend('ana', node, claimTtlMaxMs + 1)).toMatchObject({
        status: 'extended',
        lease: { expiresAt: doors.now + claimTtlMaxMs },
      });
    }),
  );
  statement(54, {
    async rest(_verbs, doors) {
      const path = `/v1/nodes/${await doors.node()}/extend`;
      const reaches = claimTtlMaxMs - claimTtlMs;
      expect((await doors.rest('ana', 'POST', path, { ms: reaches })).body).not.toHaveProperty('capped_to_max');
      expect((await doors.rest('ana', 'POST', path, { ms: 1 })).body.capped_to_max).toBe(true);
    },
    async graphql(_verbs, doors) {
      const nodeId = await doors.node();
      const extend = async (ms: number) =>
        (await doors.graphql('ana', DOCUMENTS.extendLease as string, { input: { nodeId, ms } })).data.extendLease;
      expect((await extend(claimTtlMaxMs - claimTtlMs)).cappedToMax).toBe(false);
      expect((await extend(1)).cappedToMax).toBe(true);
    },
  });
  statement(55, {
    async rest(_verbs, doors) {
      const path = `/v1/nodes/${await doors.node()}/extend`;
      expect((await doors.rest('ana', 'POST', path, { ms: 1 })).body).not.toHaveProperty('claim_ttl_max_ms');
      expect((await doors.rest('ana', 'POST', path, { ms: 1e9 })).body.claim_ttl_max_ms).toBe(claimTtlMaxMs);
    },
    async graphql(_verbs, doors) {
      const nodeId = await doors.node();
      const extend = async (ms: number) =>
        (await doors.graphql('ana', DOCUMENTS.extendLease as string, { input: { nodeId, ms } })).data.extendLease;
      expect((await extend(1)).claimTtlMaxMs).toBeNull();
      expect((await extend(1e9)).claimTtlMaxMs).toBe(claimTtlMaxMs);
    },
  });
  statement(
    56,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { lease } = await verbs.extend('ana', node, claimTtlMaxMs);
      await doors.policy({ claim_ttl_max_ms: TWO_HOURS });
      expect(await verbs.extend('ana', node, MINUTE)).toMatchObject({
        status: 'extended',
        capped: true,
        lease: { expiresAt: lease?.expiresAt },
      });
    }),
  );
  statement(57, {
    async rest(verbs, doors) {
      const node = await doors.node();
      const { lease } = await verbs.claim('ana', node);
      for (const ms of [0, -1, '7200000', null, true, [1], {}, undefined]) {
        const { status, body } = await doors.rest('ana', 'POST', `/v1/nodes/${node}/extend`, { ms });
        expect([status, body.error.code, body.error.details]).toEqual([422, 'invalid_input', { field: 'ms' }]);
      }
      expect(await verbs.read('ana', node)).toMatchObject({ lease });
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      const { lease } = await verbs.claim('ana', node);
      for (const ms of [0, -1]) {
        const { data } = await doors.graphql('ana', DOCUMENTS.extendLease as string, { input: { nodeId: node, ms } });
        expect(data.extendLease).toMatchObject({ __typename: 'InvalidInput', code: 'INVALID_INPUT', field: 'ms' });
      }
      for (const ms of ['7200000', null, true, {}]) {
        const { data, errors } = await doors.graphql('ana', DOCUMENTS.extendLease as string, {
          input: { nodeId: node, ms },
        });
        expect(data).toBeUndefined();
        expect(errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT' } }]);
      }
      expect(await verbs.read('ana', node)).toMatchObject({ lease });
    },
  });
  statement(58, {
    async rest(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { status, body } = await doors.rest('bo', 'POST', `/v1/nodes/${node}/extend`, { ms: MINUTE });
      expect([status, body.error.code]).toEqual([409, 'lease_lost']);
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { data } = await doors.graphql('bo', DOCUMENTS.extendLease as string, {
        input: { nodeId: node, ms: MINUTE },
      });
      expect(data.extendLease).toMatchObject({ __typename: 'LeaseLost', code: 'LEASE_LOST' });
    },
  });
  statement(
    59,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { lease } = await verbs.claim('ana', node);
      const refused = await verbs.extend('bo', node, MINUTE);
      expect(refused).toMatchObject({ holder: lease, message: expect.stringContaining('held by ana') });
    }),
  );
});
