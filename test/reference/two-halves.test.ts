import { expect } from 'vitest';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import { ORIGIN } from '../support/doors.ts';
import { describeStatements, onBoth } from '../support/statements.ts';

const { claimTtlMs } = DEFAULT_POLICY;

describeStatements('The two halves of a claim', (statement) => {
  statement(
    1,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      expect(await verbs.read('bo', node)).toMatchObject({ assigned: ['ana'], lease: { by: 'ana' } });
    }),
  );
  statement(
    2,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      await doors.pass(claimTtlMs);
      expect(await verbs.read('bo', node)).toMatchObject({ assigned: ['ana'], lease: null });
    }),
  );
  statement(
    3,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { lease } = await verbs.claim('ana', node);
      await doors.pass(claimTtlMs - 1);
      expect(await verbs.read('bo', node)).toMatchObject({ lease: { expiresAt: lease?.expiresAt } });
      await doors.pass(1);
      expect(doors.now).toBe(lease?.expiresAt);
      expect(await verbs.read('bo', node)).toMatchObject({ lease: null });
    }),
  );
  statement(
    4,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { lease } = await verbs.claim('ana', node);
      for (let beat = 0; beat < 4; beat += 1) {
        await doors.pass(claimTtlMs - 1);
        await verbs.renew('ana', node);
      }
      expect(await verbs.claim('bo', node)).toMatchObject({ code: 'conflict', holder: { fence: lease?.fence } });
    }),
  );
  statement(
    5,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const people = ['ana', 'bo', 'cleo', 'dan'];
      const answers = await Promise.all(people.map((who) => verbs.claim(who, node)));
      expect(answers.map(({ code }) => code).sort()).toEqual(['conflict', 'conflict', 'conflict', null]);
    }),
  );
  statement(
    6,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana-one', node);
      expect(await verbs.read('bo', node)).toMatchObject({ assigned: ['ana'] });
    }),
  );
  statement(7, {
    async rest(_verbs, doors) {
      const node = await doors.node({ type: 'issue' });
      const { body } = await doors.rest('ana', 'POST', `/v1/nodes/${node}/status`, { status: 'in-progress' });
      expect(body).toMatchObject({ status: 'updated', id: node, lease: { node_id: node, by: 'ana' } });
    },
    async graphql(_verbs, doors) {
      const node = await doors.node({ type: 'issue' });
      const { data } = await doors.graphql(
        'ana',
        `mutation ($input: SetNodeStatusInput!) { setNodeStatus(input: $input) {
           ... on SetNodeStatusSuccess { status claim { ... on ClaimLeaseSuccess { lease { nodeId by { personId } } } } }
         } }`,
        { input: { nodeId: node, status: 'in-progress' } },
      );
      expect(data.setNodeStatus).toEqual({
        status: 'UPDATED',
        claim: { lease: { nodeId: node, by: { personId: 'ana' } } },
      });
    },
  });
  statement(
    8,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { claim } = await verbs.setStatus('ana', node, 'active');
      expect(claim).toMatchObject({ lease: { by: 'ana', expiresAt: doors.now + claimTtlMs, reserved: false } });
      expect(await verbs.renew('ana', node)).toMatchObject({ reclaimed: false });
      expect(await verbs.claim('bo', node)).toMatchObject({ code: 'conflict' });
    }),
  );
  statement(9, {
    async rest(verbs, doors) {
      const node = await doors.node();
      const named = { by: 'bo', person: 'bo', holder: 'bo' };
      expect(await verbs.claim('ana', node, named)).toMatchObject({ lease: { by: 'ana' } });
      expect(await verbs.release('bo', node, { by: 'ana' })).toMatchObject({ code: 'conflict' });
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      for (const name of ['by', 'person', 'personId', 'holder']) {
        await expect(verbs.claim('ana', node, { [name]: 'bo' })).rejects.toThrow(`Field "${name}" is not defined`);
      }
      expect(await verbs.claim('ana', node)).toMatchObject({ lease: { by: 'ana' } });
    },
  });
  const badHeaders = [undefined, 'Bearer', 'Bearer hf_acme_nobodysnobodysnobodys', 'Basic YW5hOmFuYQ=='];
  const asked = (path: string, authorization: string | undefined) =>
    new Request(ORIGIN + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(authorization && { Authorization: authorization }) },
      body: JSON.stringify({ query: '{ viewer { isAdmin } }' }),
    });
  statement(10, {
    async rest(_verbs, doors) {
      const node = await doors.node();
      for (const header of badHeaders) {
        const answer = await doors.fetch(asked(`/v1/nodes/${node}/claim`, header));
        expect(answer.status).toBe(401);
        expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
        expect(await answer.json()).toMatchObject({ error: { code: 'unauthorized' } });
      }
    },
    async graphql(_verbs, doors) {
      for (const header of badHeaders) {
        const answer = await doors.fetch(asked('/graphql', header));
        expect(answer.status).toBe(401);
        expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
        expect(await answer.json()).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHORIZED' } }] });
      }
    },
  });
});
