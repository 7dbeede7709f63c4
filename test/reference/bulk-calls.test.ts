import { expect } from 'vitest';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import type { Doors } from '../support/doors.ts';
import { DOCUMENTS } from '../support/graphql-documents.ts';
import { describeStatements, onBoth } from '../support/statements.ts';
import type { Answer, NodeSeen, Verbs } from '../support/verbs.ts';

const { claimTtlMs } = DEFAULT_POLICY;

/** Nodes in each state that an item may find: free, own, parked, another's, lapsed of either, terminal, no work. */
async function everyState(verbs: Verbs, doors: Doors): Promise<string[]> {
  const nodes = (await doors.nodes(6)) as [string, string, string, string, string, string];
  const [, own, parked, others, lapsed, othersLapsed] = nodes;
  await verbs.claim('ana', lapsed);
  await verbs.claim('bo', othersLapsed);
  await doors.pass(claimTtlMs);
  await verbs.claim('ana', own);
  await verbs.reserve('ana', parked);
  await verbs.claim('bo', others);
  return [...nodes, await doors.node({ status: 'done' }), await doors.node({ type: 'note' }), 'no-such-node', 'No Id'];
}

/** What became of each node, as far as two of them can be compared. */
async function outcome(verbs: Verbs, nodes: readonly string[]) {
  const seen: Partial<NodeSeen>[] = [];
  for (const node of nodes.slice(0, 8)) {
    const read = await verbs.read('cleo', node);
    seen.push({ ...read, lease: read?.lease == null ? null : { ...read.lease, nodeId: 'any' } });
  }
  return seen;
}

describeStatements('Bulk calls', (statement) => {
  statement(
    89,
    onBoth(async (verbs, doors) => {
      const nodes = await doors.nodes(25);
      expect(await verbs.claimMany('ana', nodes)).toMatchObject({ count: 25, landed: nodes });
      expect(await verbs.renewHeld('ana')).toMatchObject({ count: 25, landed: nodes });
      expect(await verbs.releaseHeld('ana')).toMatchObject({ count: 25, landed: nodes });
    }),
  );
  statement(
    90,
    onBoth(async (verbs, doors) => {
      for (const [many, one] of [['claimMany', 'claim'] as const, ['renewMany', 'renew'] as const]) {
        const together = await everyState(verbs, doors);
        const batch = await verbs[many]('ana', together, { session: 's1' });
        const alone = await everyState(verbs, doors);
        const answers: Answer[] = [];
        for (const node of alone) answers.push(await verbs[one]('ana', node, { session: 's1' }));
        const codes = (ids: readonly string[]) =>
          ids.map((id) => batch.failed.find(({ nodeId }) => nodeId === id)?.code ?? null);
        expect(codes(together)).toEqual(answers.map(({ code }) => code));
      }
    }),
  );
  statement(
    91,
    onBoth(async (verbs, doors) => {
      const nodes = await doors.nodes(10);
      const [ana, bo] = await Promise.all([verbs.claimMany('ana', nodes), verbs.claimMany('bo', [...nodes].reverse())]);
      expect([...ana.landed, ...bo.landed].sort()).toEqual(nodes);
      expect(ana.failed.map(({ nodeId }) => nodeId).sort()).toEqual([...bo.landed].sort());
    }),
  );
  statement(
    92,
    onBoth(async (verbs, doors) => {
      const [claimed, renewed] = (await doors.nodes(2)) as [string, string];
      await verbs.claimMany('ana', [claimed]);
      await verbs.renewMany('ana', [renewed]);
      for (const node of [claimed, renewed]) expect(await verbs.read('bo', node)).toMatchObject({ assigned: ['ana'] });
      await verbs.releaseHeld('ana');
      for (const node of [claimed, renewed]) expect(await verbs.read('bo', node)).toMatchObject({ assigned: [] });
    }),
  );
  statement(
    93,
    onBoth(async (verbs, doors) => {
      const [leased, parked] = (await doors.nodes(2)) as [string, string];
      await verbs.claim('ana-one', leased);
      await verbs.reserve('ana', parked);
      expect(await verbs.claimMany('bo', [leased, parked])).toMatchObject({ count: 0 });
      expect(await verbs.claimMany('ana-two', [leased, parked])).toMatchObject({ count: 2 });
    }),
  );
  statement(
    94,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      await doors.pass(claimTtlMs);
      expect(await verbs.renewHeld('ana')).toMatchObject({ count: 0, reclaimed: [] });
      expect(await verbs.renew('ana', node)).toMatchObject({ reclaimed: true });
    }),
  );
  statement(
    95,
    onBoth(async (verbs, doors) => {
      for (const [many, one] of [['claimMany', 'claim'] as const, ['renewMany', 'renew'] as const]) {
        const together = await everyState(verbs, doors);
        const startTogether = doors.now;
        await verbs[many]('ana', together);
        const left = await outcome(verbs, together);
        const alone = await everyState(verbs, doors);
        const later = doors.now - startTogether;
        for (const node of alone) await verbs[one]('ana', node);
        const shifted = left.map((seen) => ({
          ...seen,
          lease: seen.lease && {
            ...seen.lease,
            claimedAt: seen.lease.claimedAt + later,
            expiresAt: seen.lease.expiresAt + later,
          },
        }));
        expect(shifted).toEqual(await outcome(verbs, alone));
      }
    }),
  );
  statement(96, {
    async rest(verbs, doors) {
      const [free, taken] = (await doors.nodes(2)) as [string, string];
      await verbs.claim('bo', taken);
      const { status, body } = await doors.rest('ana', 'POST', '/v1/queue/claim', { ids: [free, taken] });
      expect([status, body.ok]).toEqual([200, true]);
      expect(body.failed).toMatchObject([{ node_id: taken, code: 'already_claimed' }]);
    },
    async graphql(verbs, doors) {
      const [free, taken] = (await doors.nodes(2)) as [string, string];
      await verbs.claim('bo', taken);
      const { status, data, errors } = await doors.graphql('ana', DOCUMENTS.claimLeases as string, {
        input: { nodeIds: [free, taken] },
      });
      expect([status, errors]).toEqual([200, undefined]);
      expect(data.claimLeases.results).toMatchObject([
        { __typename: 'ClaimLeaseSuccess' },
        { __typename: 'LeaseConflict', nodeId: taken },
      ]);
    },
  });
  statement(97, {
    async rest(verbs, doors) {
      const [own, taken] = (await doors.nodes(2)) as [string, string];
      await verbs.claim('ana', own);
      await verbs.claim('bo', taken);
      const { status, body } = await doors.rest('ana', 'POST', '/v1/queue/renew', { ids: [own, taken] });
      expect([status, body.ok]).toEqual([200, true]);
      expect(body.failed).toMatchObject([{ node_id: taken, code: 'lease_lost' }]);
    },
    async graphql(verbs, doors) {
      const [own, taken] = (await doors.nodes(2)) as [string, string];
      await verbs.claim('ana', own);
      await verbs.claim('bo', taken);
      const { status, data, errors } = await doors.graphql('ana', DOCUMENTS.renewLeases as string, {
        input: { nodeIds: [own, taken] },
      });
      expect([status, errors]).toEqual([200, undefined]);
      expect(data.renewLeases.results).toMatchObject([
        { __typename: 'RenewLeaseSuccess' },
        { __typename: 'LeaseLost', nodeId: taken },
      ]);
    },
  });
  statement(98, {
    async rest(_verbs, doors) {
      const { status, body } = await doors.rest('ana', 'POST', '/v1/queue/claim', { ids: ['no-such-node'] });
      expect([status, body.ok, body.count, body.status]).toEqual([200, true, 0, 'refused']);
    },
    async graphql(_verbs, doors) {
      const { data, errors } = await doors.graphql('ana', DOCUMENTS.claimLeases as string, {
        input: { nodeIds: ['no-such-node'] },
      });
      expect(errors).toBeUndefined();
      expect(data.claimLeases).toMatchObject({ count: 0, status: 'REFUSED' });
    },
  });
  statement(
    99,
    onBoth(async (verbs, doors) => {
      const nodes = await everyState(verbs, doors);
      const { landed, failed } = await verbs.claimMany('ana', nodes);
      const [free, own, parked, others, lapsed, othersLapsed, ...rest] = nodes;
      expect(landed).toEqual([free, own, parked, lapsed, othersLapsed]);
      expect(failed.map(({ nodeId }) => nodeId)).toEqual([others, ...rest]);
    }),
  );
  statement(
    100,
    onBoth(async (verbs, doors) => {
      const nodes = await everyState(verbs, doors);
      const [, own, parked, others] = nodes as [string, string, string, string];
      expect(await verbs.releaseHeld('ana')).toMatchObject({ status: 'released', landed: [own, parked], failed: [] });
      expect(await verbs.read('ana', others)).toMatchObject({ lease: { by: 'bo' } });
    }),
  );
});
