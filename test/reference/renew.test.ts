import { expect } from 'vitest';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import { DOCUMENTS } from '../support/graphql-documents.ts';
import { describeStatements, onBoth } from '../support/statements.ts';

const { claimTtlMs } = DEFAULT_POLICY;
const MINUTE = 60_000;

describeStatements('Renew', (statement) => {
  statement(29, {
    async rest(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { status, body } = await doors.rest('ana', 'POST', `/v1/nodes/${node}/renew`, {});
      expect([status, body.lease.node_id, body.lease.fence]).toEqual([200, node, '1']);
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { data } = await doors.graphql(
        'ana',
        `mutation { renewLease(input: { nodeId: "${node}" }) { ... on RenewLeaseSuccess { lease { nodeId fence } } } }`,
      );
      expect(data.renewLease).toEqual({ lease: { nodeId: node, fence: '1' } });
    },
  });
  statement(
    30,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { lease } = await verbs.claim('ana', node);
      await doors.pass(MINUTE);
      expect((await verbs.renew('ana', node)).lease).toEqual({ ...lease, expiresAt: doors.now + claimTtlMs });
    }),
  );
  statement(
    31,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const before = await verbs.read('ana', node);
      const [{ events } = {}] = await doors.database.sql('SELECT count(*) AS events FROM lease_event');
      await doors.pass(MINUTE);
      await verbs.renew('ana', node);
      expect(await verbs.read('ana', node)).toMatchObject({ revision: before?.revision, assigned: ['ana'] });
      expect(await doors.database.sql('SELECT count(*) AS events FROM lease_event')).toEqual([{ events }]);
    }),
  );
  statement(
    32,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('bo', node);
      await doors.pass(claimTtlMs);
      await verbs.renew('ana', node);
      expect(await verbs.read('ana', node)).toMatchObject({ assigned: ['ana', 'bo'], lease: { by: 'ana' } });
    }),
  );
  statement(33, {
    async rest(verbs, doors) {
      const node = await doors.node();
      expect((await doors.rest('ana', 'POST', `/v1/nodes/${node}/renew`)).status).toBe(200);
      expect(await verbs.renew('ana', node, { session: 's1' })).toMatchObject({ lease: { session: 's1' } });
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      expect(await verbs.renew('ana', node)).toMatchObject({ lease: { session: null } });
      expect(await verbs.renew('ana', node, { session: 's1' })).toMatchObject({ lease: { session: 's1' } });
    },
  });
  statement(
    34,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      expect(await verbs.renew('ana', node)).toMatchObject({
        status: 'renewed',
        reclaimed: true,
        lease: { by: 'ana' },
      });
      expect(await verbs.claim('bo', node)).toMatchObject({ code: 'conflict' });
    }),
  );
  statement(
    35,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      await doors.pass(claimTtlMs);
      expect(await verbs.renew('ana', node)).toMatchObject({ reclaimed: true, lease: { by: 'ana', fence: '2' } });
    }),
  );
  statement(
    36,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('bo', node);
      await doors.pass(claimTtlMs);
      expect(await verbs.renew('ana', node)).toMatchObject({ reclaimed: true, lease: { by: 'ana', fence: '2' } });
    }),
  );
  statement(
    37,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      expect(await verbs.renew('ana', node)).toMatchObject({
        expiresInMs: claimTtlMs,
        lease: { claimedAt: doors.now },
      });
      expect(await verbs.read('bo', node)).toMatchObject({ assigned: ['ana'] });
    }),
  );
  statement(
    38,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const answers = await Promise.all(['ana', 'bo', 'cleo'].map((who) => verbs.renew(who, node)));
      expect(answers.map(({ code }) => code).sort()).toEqual(['lease_lost', 'lease_lost', null]);
      const winner = answers.find(({ lease }) => lease !== null)?.lease;
      expect(answers.flatMap(({ holder }) => (holder === null ? [] : [holder]))).toEqual([winner, winner]);
    }),
  );
  statement(39, {
    async rest(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { body } = await doors.rest('ana', 'POST', `/v1/nodes/${node}/renew`, {});
      expect(body).toEqual({
        ok: true,
        status: 'renewed',
        lease: expect.objectContaining({ node_id: node }),
        expires_in_ms: claimTtlMs,
        renew_after_ms: expect.any(Number),
      });
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { data } = await doors.graphql('ana', DOCUMENTS.renewLease as string, { input: { nodeId: node } });
      expect(data.renewLease).toEqual({
        __typename: 'RenewLeaseSuccess',
        status: 'RENEWED',
        lease: expect.objectContaining({ nodeId: node }),
        expiresInMs: claimTtlMs,
        renewAfterMs: expect.any(Number),
        reclaimed: false,
      });
    },
  });
  statement(40, {
    async rest(_verbs, doors) {
      const path = `/v1/nodes/${await doors.node()}/renew`;
      expect((await doors.rest('ana', 'POST', path, {})).body.reclaimed).toBe(true);
      expect((await doors.rest('ana', 'POST', path, {})).body).not.toHaveProperty('reclaimed');
    },
    async graphql(_verbs, doors) {
      const input = { nodeId: await doors.node() };
      const renew = async () => (await doors.graphql('ana', DOCUMENTS.renewLease as string, { input })).data.renewLease;
      expect((await renew()).reclaimed).toBe(true);
      expect((await renew()).reclaimed).toBe(false);
    },
  });
  statement(41, {
    async rest(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { status, body } = await doors.rest('bo', 'POST', `/v1/nodes/${node}/renew`, {});
      expect([status, body.error.code]).toEqual([409, 'lease_lost']);
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { data } = await doors.graphql('bo', DOCUMENTS.renewLease as string, { input: { nodeId: node } });
      expect(data.renewLease).toMatchObject({ __typename: 'LeaseLost', code: 'LEASE_LOST', nodeId: node });
    },
  });
  statement(
    42,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { lease } = await verbs.claim('ana', node);
      const refused = await verbs.renew('bo', node);
      expect(refused).toMatchObject({ holder: lease, message: expect.stringContaining('held by ana') });
    }),
  );
  statement(
    43,
    onBoth(async (verbs, doors) => {
      const [never, lapsed, released, own, taken] = (await doors.nodes(5)) as [string, string, string, string, string];
      await verbs.claim('ana', lapsed);
      await doors.pass(claimTtlMs);
      await verbs.claim('ana', released);
      await verbs.release('ana', released);
      await verbs.claim('ana', own);
      for (const node of [never, lapsed, released, own]) {
        expect(await verbs.renew('ana', node)).toMatchObject({ code: null, lease: { by: 'ana' } });
      }
      await verbs.claim('bo', taken);
      expect(await verbs.renew('ana', taken)).toMatchObject({ code: 'lease_lost' });
    }),
  );
  statement(
    44,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node, { session: 's1' });
      expect(await verbs.renew('ana', node, { session: 's2' })).toMatchObject({
        reclaimed: false,
        lease: { fence: '1' },
      });
      expect(await verbs.renew('ana-two', node)).toMatchObject({ reclaimed: false, lease: { fence: '1' } });
    }),
  );
  statement(
    45,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node, { session: 's1' });
      expect(await verbs.renew('ana', node, { session: 's2' })).toMatchObject({ lease: { session: 's2' } });
      expect(await verbs.renew('ana', node)).toMatchObject({ lease: { session: 's2' } });
    }),
  );
});
