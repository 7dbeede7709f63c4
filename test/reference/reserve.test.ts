import { expect } from 'vitest';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import { DOCUMENTS } from '../support/graphql-documents.ts';
import { describeStatements, onBoth } from '../support/statements.ts';

const { claimTtlMs, reserveGraceMs } = DEFAULT_POLICY;
const HOUR = 3_600_000;

describeStatements('Reserve', (statement) => {
  statement(60, {
    async rest(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { status, body } = await doors.rest('ana', 'POST', `/v1/nodes/${node}/reserve`, {});
      expect(status).toBe(200);
      expect(body.lease).toMatchObject({ node_id: node, by: 'ana', reserved: true, fence: '1' });
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { data } = await doors.graphql(
        'ana',
        `mutation { reserveLease(input: { nodeId: "${node}" }) {
           ... on ReserveLeaseSuccess { lease { reserved fence } } } }`,
      );
      expect(data.reserveLease).toEqual({ lease: { reserved: true, fence: '1' } });
    },
  });
  statement(
    61,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.reserve('ana', node);
      expect(await verbs.claim('bo', node)).toMatchObject({ code: 'conflict' });
      expect(await verbs.renew('bo', node)).toMatchObject({ code: 'lease_lost' });
      expect(await verbs.extend('bo', node, HOUR)).toMatchObject({ code: 'lease_lost' });
      expect(await verbs.reserve('bo', node)).toMatchObject({ code: 'lease_lost' });
      expect(await verbs.release('bo', node)).toMatchObject({ code: 'conflict' });
    }),
  );
  statement(
    62,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.reserve('ana', node);
      expect(await verbs.claim('ana', node)).toMatchObject({
        status: 'claimed',
        expiresInMs: claimTtlMs,
        lease: { reserved: false, fence: '1' },
      });
    }),
  );
  statement(63, {
    async rest(verbs, doors) {
      const node = await doors.node();
      expect((await doors.rest('ana', 'POST', `/v1/nodes/${node}/reserve`)).status).toBe(200);
      expect(await verbs.reserve('ana', node, { session: 's1' })).toMatchObject({ lease: { session: 's1' } });
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      expect(await verbs.reserve('ana', node)).toMatchObject({ lease: { session: null } });
      expect(await verbs.reserve('ana', node, { session: 's1' })).toMatchObject({ lease: { session: 's1' } });
    },
  });
  statement(64, {
    async rest(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { body } = await doors.rest('ana', 'POST', `/v1/nodes/${node}/reserve`, {});
      expect(body).toEqual({
        ok: true,
        status: 'reserved',
        lease: expect.objectContaining({ node_id: node }),
        expires_in_ms: reserveGraceMs,
        grace_window_ms: reserveGraceMs,
      });
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { data } = await doors.graphql('ana', DOCUMENTS.reserveLease as string, { input: { nodeId: node } });
      expect(data.reserveLease).toEqual({
        __typename: 'ReserveLeaseSuccess',
        status: 'RESERVED',
        lease: expect.objectContaining({ nodeId: node }),
        expiresInMs: reserveGraceMs,
        graceWindowMs: reserveGraceMs,
        renewAfterMs: null,
        reclaimed: false,
      });
    },
  });
  statement(
    65,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      expect(await verbs.reserve('ana', node)).toMatchObject({ renewAfterMs: null });
      await doors.pass(reserveGraceMs - 1);
      expect(await verbs.read('bo', node)).toMatchObject({ lease: { by: 'ana', reserved: true } });
    }),
  );
  statement(
    66,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { lease } = await verbs.reserve('ana', node);
      expect(await verbs.read('ana', node)).toMatchObject({ lease, status: 'open' });
    }),
  );
  statement(
    67,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { lease } = await verbs.reserve('ana', node);
      const refused = await verbs.claim('bo', node);
      expect(refused.holder).toEqual(lease);
      expect(refused.message).toContain('reserved for ana');
      expect(refused.message).toContain(new Date(doors.now + reserveGraceMs).toISOString());
    }),
  );
  statement(
    68,
    onBoth(async (verbs, doors) => {
      await doors.policy({ reserve_grace_ms: 3 * HOUR });
      const node = await doors.node();
      expect(await verbs.reserve('ana', node)).toMatchObject({ lease: { expiresAt: doors.now + 3 * HOUR } });
    }),
  );
  statement(
    69,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      expect(await verbs.reserve('ana', node)).toMatchObject({ graceMs: reserveGraceMs });
      await doors.policy({ reserve_grace_ms: 3 * HOUR });
      expect(await verbs.reserve('ana', node)).toMatchObject({ graceMs: 3 * HOUR });
    }),
  );
  statement(
    70,
    onBoth(async (verbs, doors) => {
      const [first, second] = (await doors.nodes(2)) as [string, string];
      await verbs.reserve('ana', first);
      await verbs.reserve('ana', second);
      await doors.pass(reserveGraceMs);
      expect(await verbs.read('ana', first)).toMatchObject({ lease: null });
      expect(await verbs.claim('bo', first)).toMatchObject({ status: 'claimed' });
      expect(await verbs.claim('ana', second)).toMatchObject({ status: 'claimed', lease: { fence: '2' } });
    }),
  );
  statement(
    71,
    onBoth(async (verbs, doors) => {
      const [renewed, again] = (await doors.nodes(2)) as [string, string];
      await verbs.reserve('ana', renewed);
      await verbs.reserve('ana', again);
      await doors.pass(reserveGraceMs - 1);
      expect(await verbs.renew('ana', renewed)).toMatchObject({ reclaimed: false, lease: { reserved: false } });
      expect(await verbs.reserve('ana', again)).toMatchObject({ reclaimed: false, expiresInMs: reserveGraceMs });
      await doors.pass(1);
      expect(await verbs.claim('bo', renewed)).toMatchObject({ code: 'conflict' });
      expect(await verbs.claim('bo', again)).toMatchObject({ code: 'conflict' });
    }),
  );
  statement(
    72,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const before = await verbs.read('bo', node);
      await verbs.reserve('ana', node);
      expect(await verbs.read('bo', node)).toMatchObject({ assigned: ['ana'], revision: before?.revision });
      await doors.pass(reserveGraceMs);
      expect(await verbs.read('bo', node)).toMatchObject({ assigned: ['ana'], lease: null });
    }),
  );
  statement(
    73,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { lease } = await verbs.reserve('ana', node);
      expect(await verbs.read('cleo', node)).toMatchObject({ assigned: ['ana'], lease });
      expect(lease).toMatchObject({ by: 'ana', reserved: true });
    }),
  );
  statement(
    74,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      expect(await verbs.reserve('ana', node)).toMatchObject({
        status: 'reserved',
        reclaimed: true,
        lease: { by: 'ana', fence: '1' },
      });
      expect(await verbs.read('bo', node)).toMatchObject({ assigned: ['ana'] });
    }),
  );
  statement(
    75,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('ana', node);
      await doors.pass(claimTtlMs);
      expect(await verbs.reserve('ana', node)).toMatchObject({
        reclaimed: true,
        lease: { reserved: true, fence: '2' },
      });
    }),
  );
  statement(
    76,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.reserve('ana', node);
      await doors.pass(reserveGraceMs);
      expect(await verbs.reserve('ana', node)).toMatchObject({
        reclaimed: true,
        lease: { reserved: true, fence: '2' },
      });
    }),
  );
  statement(77, {
    async rest(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { body } = await doors.rest('ana', 'POST', `/v1/nodes/${node}/reserve`, {});
      expect(body).not.toHaveProperty('reclaimed');
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      await verbs.claim('ana', node);
      const { data } = await doors.graphql('ana', DOCUMENTS.reserveLease as string, { input: { nodeId: node } });
      expect(data.reserveLease.reclaimed).toBe(false);
    },
  });
  statement(78, {
    async rest(verbs, doors) {
      const node = await doors.node();
      const { lease } = await verbs.claim('ana', node);
      const { status, body } = await doors.rest('bo', 'POST', `/v1/nodes/${node}/reserve`, {});
      expect([status, body.error.code]).toEqual([409, 'lease_lost']);
      expect(await verbs.read('bo', node)).toMatchObject({ lease });
    },
    async graphql(verbs, doors) {
      const node = await doors.node();
      const { lease } = await verbs.claim('ana', node);
      const { data } = await doors.graphql('bo', DOCUMENTS.reserveLease as string, { input: { nodeId: node } });
      expect(data.reserveLease).toMatchObject({ __typename: 'LeaseLost', code: 'LEASE_LOST' });
      expect(await verbs.read('bo', node)).toMatchObject({ lease });
    },
  });
  statement(
    79,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      const { lease } = await verbs.claim('ana', node);
      const refused = await verbs.reserve('bo', node);
      expect(refused).toMatchObject({ holder: lease, message: expect.stringContaining('held by ana') });
    }),
  );
  statement(
    80,
    onBoth(async (verbs, doors) => {
      const [kept, given] = (await doors.nodes(2)) as [string, string];
      for (const node of [kept, given]) await verbs.claim('ana', node);
      await verbs.reserve('ana', kept);
      await verbs.release('ana', given);
      expect(await verbs.claim('bo', kept)).toMatchObject({ code: 'conflict' });
      expect(await verbs.claim('bo', given)).toMatchObject({ status: 'claimed' });
    }),
  );
});
