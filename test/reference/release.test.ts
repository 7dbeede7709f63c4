import { expect } from 'vitest';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import { DOCUMENTS } from '../support/graphql-documents.ts';
import { describeStatements, onBoth } from '../support/statements.ts';

const { claimTtlMs } = DEFAULT_POLICY;

describeStatements('Release', (statement) => {
  statement(81, {
    async rest(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { status, body } = await doors.rest('ana', 'POST', `/v1/nodes/${node}/release`, {});
      expect([status, body]).toEqual([200, { ok: true, status: 'released', node_id: node, edge: 'removed' }]);
      expect(await verbs.read('bo', node)).toMatchObject({ lease: null });
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { data } = await doors.graphql(
        'ana',
        `mutation { releaseLease(input: { nodeId: "${node}" }) { ... on ReleaseLeaseSuccess { status nodeId edge } } }`,
      );
      expect(data.releaseLease).toEqual({ status: 'RELEASED', nodeId: node, edge: 'REMOVED' });
      expect(await verbs.read('bo', node)).toMatchObject({ lease: null });
    },
  });
  statement(
    82,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      expect(await verbs.release('ana', node)).toMatchObject({ status: 'released', edge: 'removed' });
      expect(await verbs.read('bo', node)).toMatchObject({ assigned: [] });
    }),
  );
  statement(
    83,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      await verbs.release('ana', node);
      expect(await verbs.claim('bo', node)).toMatchObject({ status: 'claimed', lease: { by: 'bo', fence: '2' } });
    }),
  );
  statement(
    84,
    onBoth(async (verbs, doors) => {
      const [never, released] = (await doors.nodes(2)) as [string, string];
      await verbs.claim('ana', released);
      await verbs.release('ana', released);
      for (const node of [never, released]) {
        expect(await verbs.release('ana', node)).toMatchObject({ status: 'released', code: null, edge: 'skipped' });
      }
    }),
  );
  statement(
    85,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      await doors.pass(claimTtlMs);
      expect(await verbs.release('ana', node)).toMatchObject({ status: 'released', edge: 'removed' });
      expect(await verbs.read('bo', node)).toMatchObject({ assigned: [] });
    }),
  );
  statement(86, {
    async rest(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { status, body } = await doors.rest('bo', 'POST', `/v1/nodes/${node}/release`, {});
      expect([status, body.error.code]).toEqual([409, 'conflict']);
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { data } = await doors.graphql('bo', DOCUMENTS.releaseLease as string, { input: { nodeId: node } });
      expect(data.releaseLease).toMatchObject({ __typename: 'LeaseConflict', code: 'CONFLICT', nodeId: node });
    },
  });
  statement(
    87,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { lease } = await verbs.claim('ana', node);
      const refused = await verbs.release('bo', node);
      expect(refused).toMatchObject({ holder: lease, message: expect.stringContaining('held by ana') });
    }),
  );
  statement(
    88,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { lease } = await verbs.claim('ana', node);
      await verbs.release('bo', node);
      expect(await verbs.read('bo', node)).toMatchObject({ lease, assigned: ['ana'] });
    }),
  );
});
