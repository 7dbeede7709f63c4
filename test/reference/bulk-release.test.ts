import { expect } from 'vitest';
import { DOCUMENTS } from '../support/graphql-documents.ts';
import { describeStatements, onBoth } from '../support/statements.ts';

describeStatements('Bulk release', (statement) => {
  statement(
    140,
    onBoth(async (verbs, doors) => {
      const [leased, parked, others] = (await doors.nodes(3)) as [string, string, string];
      await verbs.claim('ana', leased);
      await verbs.reserve('ana', parked);
      await verbs.claim('bo', others);
      expect(await verbs.releaseHeld('ana')).toMatchObject({ landed: [leased, parked], count: 2 });
      expect(await verbs.releaseHeld('ana')).toMatchObject({ landed: [], count: 0 });
    }),
  );
  statement(
    141,
    onBoth(async (verbs, doors) => {
      const [one, two, none] = (await doors.nodes(3)) as [string, string, string];
      await verbs.claim('ana', one, { session: 's1' });
      await verbs.claim('ana', two, { session: 's2' });
      await verbs.claim('ana', none);
      expect(await verbs.releaseHeld('ana', { session: 's1' })).toMatchObject({ landed: [one] });
      expect(await verbs.read('ana', two)).toMatchObject({ lease: { session: 's2' } });
      expect(await verbs.read('ana', none)).toMatchObject({ lease: { session: null } });
    }),
  );
  statement(142, {
    async rest(_verbs, doors) {
      for (const body of [undefined, {}, { session: null }]) {
        expect((await doors.rest('ana', 'POST', '/v1/queue/release', body)).status).toBe(200);
      }
    },
    async graphql(_verbs, doors) {
      for (const input of ['', '(input: {})', '(input: null)', '(input: { session: null })']) {
        const { data } = await doors.graphql('ana', `mutation { releaseHeldLeases${input} { count } }`);
        expect(data.releaseHeldLeases).toEqual({ count: 0 });
      }
    },
  });
  statement(
    143,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      await verbs.releaseHeld('ana');
      expect(await verbs.read('bo', node)).toMatchObject({ assigned: [], lease: null });
      expect(await verbs.claim('bo', node)).toMatchObject({ status: 'claimed' });
    }),
  );
  statement(
    144,
    onBoth(async (verbs, doors) => {
      const [mine, others] = (await doors.nodes(2)) as [string, string];
      await verbs.claim('ana', mine);
      const { lease } = await verbs.claim('bo', others);
      expect(await verbs.releaseHeld('ana')).toMatchObject({ status: 'released', landed: [mine] });
      expect(await verbs.read('ana', others)).toMatchObject({ lease, assigned: ['bo'] });
    }),
  );
  statement(145, {
    async rest(verbs, doors) {
      await verbs.claim('bo', await doors.node());
      const { status, body } = await doors.rest('ana', 'POST', '/v1/queue/release', {});
      expect(status).toBe(200);
      expect(body).not.toHaveProperty('failed');
    },
    async graphql(verbs, doors) {
      await verbs.claim('bo', await doors.node());
      const { data } = await doors.graphql('ana', DOCUMENTS.releaseHeldLeases as string, {});
      expect(data.releaseHeldLeases).toMatchObject({ status: 'RELEASED', results: [] });
    },
  });
  statement(146, {
    async rest(verbs, doors) {
      const nodes = await doors.nodes(2);
      await verbs.claimMany('ana', nodes);
      const { body } = await doors.rest('ana', 'POST', '/v1/queue/release', {});
      expect(body).toEqual({ ok: true, status: 'released', released: nodes, count: 2 });
    },
    async graphql(verbs, doors) {
      const nodes = await doors.nodes(2);
      await verbs.claimMany('ana', nodes);
      const { data } = await doors.graphql('ana', DOCUMENTS.releaseHeldLeases as string, {});
      expect(data.releaseHeldLeases).toMatchObject({
        status: 'RELEASED',
        count: 2,
        results: nodes.map((nodeId) => ({ __typename: 'ReleaseLeaseSuccess', nodeId, edge: 'REMOVED' })),
      });
    },
  });
});
