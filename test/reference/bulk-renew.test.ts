import { expect } from 'vitest';
import { DEFAULT_POLICY } from '../../src/lease/policy.ts';
import type { Doors } from '../support/doors.ts';
import { DOCUMENTS } from '../support/graphql-documents.ts';
import { describeStatements, onBoth } from '../support/statements.ts';
import type { Verbs } from '../support/verbs.ts';

const { claimTtlMs, reserveGraceMs } = DEFAULT_POLICY;
const MINUTE = 60_000;

/** Two nodes that ana holds, and one that bo does. */
async function held(verbs: Verbs, doors: Doors): Promise<[string, string, string]> {
  const [one, two, others] = (await doors.nodes(3)) as [string, string, string];
  await verbs.claimMany('ana', [one, two]);
  await verbs.claim('bo', others);
  return [one, two, others];
}

describeStatements('Bulk renew', (statement) => {
  statement(119, {
    async rest(verbs, doors) {
      const [one, two] = await held(verbs, doors);
      for (const [body, renewed] of [
        [undefined, [one, two]],
        [{}, [one, two]],
        [{ ids: null, session: null }, [one, two]],
        [{ ids: [two] }, [two]],
        [{ ids: [] }, []],
      ]) {
        const answer = await doors.rest('ana', 'POST', '/v1/queue/renew', body);
        expect([answer.status, answer.body.renewed]).toEqual([200, renewed]);
      }
    },
    async graphql(verbs, doors) {
      const [, two] = await held(verbs, doors);
      const { data } = await doors.graphql(
        'ana',
        `mutation {
           all: renewHeldLeases { count }
           allToo: renewHeldLeases(input: {}) { count }
           one: renewLeases(input: { nodeIds: ["${two}"] }) { count }
           none: renewLeases(input: { nodeIds: [] }) { count }
         }`,
      );
      expect(data).toEqual({ all: { count: 2 }, allToo: { count: 2 }, one: { count: 1 }, none: { count: 0 } });
    },
  });
  statement(
    120,
    onBoth(async (verbs, doors) => {
      const [one, two] = await held(verbs, doors);
      await doors.pass(MINUTE);
      const { landed, leases } = await verbs.renewHeld('ana');
      expect(landed).toEqual([one, two]);
      expect(leases.map(({ expiresAt }) => expiresAt)).toEqual([doors.now + claimTtlMs, doors.now + claimTtlMs]);
    }),
  );
  statement(
    121,
    onBoth(async (verbs, doors) => {
      const [one, two, three] = (await doors.nodes(3)) as [string, string, string];
      await verbs.claim('ana', one, { session: 's1' });
      await verbs.claim('ana', two, { session: 's2' });
      await verbs.claim('ana', three);
      await doors.pass(MINUTE);
      expect(await verbs.renewHeld('ana', { session: 's1' })).toMatchObject({ landed: [one] });
      for (const node of [two, three]) {
        const seen = await verbs.read('ana', node);
        expect(seen?.lease?.expiresAt).toBe(doors.now - MINUTE + claimTtlMs);
      }
    }),
  );
  statement(
    122,
    onBoth(async (verbs, doors) => {
      const [one, two] = await held(verbs, doors);
      await verbs.extend('ana', two, MINUTE);
      await doors.pass(claimTtlMs);
      expect(await verbs.renewHeld('ana')).toMatchObject({ landed: [two], failed: [], reclaimed: [] });
      expect(await verbs.read('ana', one)).toMatchObject({ lease: null });
      expect(await verbs.claim('bo', one)).toMatchObject({ status: 'claimed' });
    }),
  );
  statement(
    123,
    onBoth(async (verbs, doors) => {
      const [one, two] = await held(verbs, doors);
      await verbs.extend('ana', two, MINUTE);
      doors.beforeNextWrite(() => doors.pass(claimTtlMs));
      expect(await verbs.renewHeld('ana')).toMatchObject({
        status: 'partial',
        landed: [two],
        failed: [{ nodeId: one, code: 'lease_lost', holder: null }],
        reclaimed: [],
      });
      expect(await verbs.read('ana', one)).toMatchObject({ lease: null });
    }),
  );
  statement(
    124,
    onBoth(async (verbs, doors) => {
      const [one, two] = await held(verbs, doors);
      doors.beforeNextWrite(async () => {
        await verbs.release('ana', one);
        await verbs.claim('cleo', one);
      });
      expect(await verbs.renewHeld('ana')).toMatchObject({
        landed: [two],
        failed: [{ nodeId: one, code: 'lease_lost', holder: { by: 'cleo', fence: '2' } }],
      });
      expect(await verbs.read('ana', one)).toMatchObject({ lease: { by: 'cleo' } });
    }),
  );
  statement(
    125,
    onBoth(async (verbs, doors) => {
      const [one, two] = await held(verbs, doors);
      await doors.pass(MINUTE);
      expect(await verbs.renewMany('ana', [two])).toMatchObject({ landed: [two], failed: [] });
      const seen = await verbs.read('ana', one);
      expect(seen?.lease?.expiresAt).toBe(doors.now - MINUTE + claimTtlMs);
    }),
  );
  statement(
    126,
    onBoth(async (verbs, doors) => {
      const [one, two] = await held(verbs, doors);
      const bound = await verbs.renewMany('ana', [one, two], { session: 's1' });
      expect(bound.leases.map(({ session }) => session)).toEqual(['s1', 's1']);
      const left = await verbs.renewMany('ana', [one, two]);
      expect(left.leases.map(({ session }) => session)).toEqual(['s1', 's1']);
    }),
  );
  statement(
    127,
    onBoth(async (verbs, doors) => {
      const node = await doors.node();
      await verbs.claim('bo', node);
      await doors.pass(claimTtlMs);
      expect(await verbs.renewMany('ana', [node])).toMatchObject({ leases: [{ nodeId: node, by: 'ana', fence: '2' }] });
      expect(await verbs.read('bo', node)).toMatchObject({ assigned: ['ana', 'bo'] });
    }),
  );
  statement(
    128,
    onBoth(async (verbs, doors) => {
      const [lapsed, own] = (await doors.nodes(2)) as [string, string];
      await verbs.claim('ana', lapsed);
      await doors.pass(claimTtlMs);
      await verbs.claim('ana', own);
      expect(await verbs.renewMany('ana', [lapsed, own])).toMatchObject({
        status: 'renewed',
        landed: [lapsed, own],
        reclaimed: [lapsed],
      });
    }),
  );
  statement(
    129,
    onBoth(async (verbs, doors) => {
      const [, , others] = await held(verbs, doors);
      expect(await verbs.renewMany('ana', [others])).toMatchObject({
        status: 'refused',
        failed: [{ nodeId: others, code: 'lease_lost', holder: { by: 'bo' } }],
      });
    }),
  );
  statement(
    130,
    onBoth(async (verbs, doors) => {
      const [one, two, others] = await held(verbs, doors);
      expect(await verbs.renewMany('ana', [one, others, two])).toMatchObject({ status: 'partial', landed: [one, two] });
    }),
  );
  statement(131, {
    async rest(verbs, doors) {
      const [one] = await held(verbs, doors);
      for (const body of [{}, { ids: [one] }]) {
        const answer = await doors.rest('ana', 'POST', '/v1/queue/renew', body);
        expect(Object.keys(answer.body).sort()).toEqual(
          ['ok', 'status', 'count', 'renewed', 'leases', 'failed', 'expires_in_ms'].sort(),
        );
        expect(answer.body).toMatchObject({ ok: true, status: 'renewed' });
      }
    },
    async graphql(verbs, doors) {
      const [one] = await held(verbs, doors);
      for (const [field, input] of [
        ['renewHeldLeases', {}],
        ['renewLeases', { nodeIds: [one] }],
      ] as const) {
        const { data } = await doors.graphql('ana', DOCUMENTS[field] as string, { input });
        expect(data[field]).toMatchObject({ status: 'RENEWED', count: data[field].results.length });
        expect(data[field].results[0]).toMatchObject({ __typename: 'RenewLeaseSuccess', status: 'RENEWED' });
      }
    },
  });
  statement(
    132,
    onBoth(async (verbs, doors) => {
      const [one, two, others] = await held(verbs, doors);
      const batch = await verbs.renewMany('ana', [two, others, one]);
      expect(batch).toMatchObject({ landed: [two, one], count: 2 });
      expect(batch.leases.map(({ nodeId }) => nodeId)).toEqual([two, one]);
    }),
  );
  statement(
    133,
    onBoth(async (verbs, doors) => {
      const [one, two] = await held(verbs, doors);
      await verbs.extend('ana', one, 5 * MINUTE);
      await verbs.extend('ana', two, MINUTE);
      expect(await verbs.renewHeld('ana')).toMatchObject({ expiresInMs: claimTtlMs + MINUTE });
      expect(await verbs.renewMany('ana', [one])).toMatchObject({ expiresInMs: claimTtlMs + 5 * MINUTE });
    }),
  );
  statement(134, {
    async rest(verbs, doors) {
      const [, , others] = await held(verbs, doors);
      for (const body of [{ ids: [] }, { ids: [others] }, { session: 'of nothing' }]) {
        expect((await doors.rest('ana', 'POST', '/v1/queue/renew', body)).body).not.toHaveProperty('expires_in_ms');
      }
    },
    async graphql(verbs, doors) {
      const [, , others] = await held(verbs, doors);
      expect(await verbs.renewMany('ana', [])).toMatchObject({ status: 'renewed', expiresInMs: null });
      expect(await verbs.renewMany('ana', [others])).toMatchObject({ expiresInMs: null });
      expect(await verbs.renewHeld('ana', { session: 'of nothing' })).toMatchObject({ expiresInMs: null });
    },
  });
  statement(135, {
    async rest(verbs, doors) {
      const [one] = await held(verbs, doors);
      for (const body of [{}, { ids: [one] }]) {
        expect((await doors.rest('ana', 'POST', '/v1/queue/renew', body)).body).not.toHaveProperty('reclaimed');
      }
      const { body } = await doors.rest('ana', 'POST', '/v1/queue/renew', { ids: await doors.nodes(1) });
      expect(body.reclaimed).toEqual(body.renewed);
    },
    async graphql(verbs, doors) {
      const [one] = await held(verbs, doors);
      expect(await verbs.renewHeld('ana')).toMatchObject({ reclaimed: [] });
      expect(await verbs.renewMany('ana', [one])).toMatchObject({ reclaimed: [] });
    },
  });
  statement(136, {
    async rest(verbs, doors) {
      const [one, two] = await held(verbs, doors);
      await verbs.reserve('ana', two);
      const { body } = await doors.rest('ana', 'POST', '/v1/queue/renew', { ids: [one], session: 's9' });
      expect(Object.keys(body).filter((key) => key.startsWith('skipped'))).toEqual([]);
      const all = await doors.rest('ana', 'POST', '/v1/queue/renew', { session: 's8' });
      expect(all.body).toMatchObject({ skipped_other_session: 2 });
    },
    async graphql(verbs, doors) {
      const [one, two] = await held(verbs, doors);
      await verbs.reserve('ana', two);
      const none = { session: 0, reserved: 0, project: 0 };
      expect(await verbs.renewMany('ana', [one], { session: 's9' })).toMatchObject({ skipped: none });
      expect(await verbs.renewHeld('ana', { session: 's8' })).toMatchObject({ skipped: { session: 2 } });
    },
  });
  statement(
    137,
    onBoth(async (verbs, doors) => {
      const [one] = await held(verbs, doors);
      await verbs.renew('ana', one, { session: 's1' });
      expect(await verbs.renewHeld('ana', { session: 'nowhere' })).toMatchObject({
        status: 'renewed',
        count: 0,
        failed: [],
        skipped: { session: 2, reserved: 0, project: 0 },
      });
      expect(await verbs.read('ana', one)).toMatchObject({ lease: { session: 's1' } });
    }),
  );
  statement(
    138,
    onBoth(async (verbs, doors) => {
      const [one, two] = await held(verbs, doors);
      await verbs.reserve('ana', two);
      expect(await verbs.renewHeld('ana')).toMatchObject({ landed: [one], skipped: { reserved: 1, session: 0 } });
      expect(await verbs.read('ana', two)).toMatchObject({ lease: { reserved: true } });
    }),
  );
  statement(
    139,
    onBoth(async (verbs, doors) => {
      const [, two] = await held(verbs, doors);
      await verbs.reserve('ana', two);
      const end = doors.now + reserveGraceMs;
      await doors.pass(MINUTE);
      await verbs.renewHeld('ana');
      expect(await verbs.read('ana', two)).toMatchObject({ lease: { expiresAt: end } });
    }),
  );
});
