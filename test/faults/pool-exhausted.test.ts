import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ConnectionLimits } from '../../src/db/connect.ts';
import { createFaultRig, type FaultRig, TENANT } from '../support/fault-rig.ts';
import { DOCUMENTS } from '../support/graphql-documents.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { openTransaction } from '../support/open-transaction.ts';
import { createPausePoints, type PausePoints, type Stop } from '../support/pause-points.ts';
import type { RestReply } from '../support/rest-client.ts';

/**
 * All connections of a pool are held. Who needs one is told within the bound that the call was put off, and truly so;
 * when they are let go the next call has one at once.
 */
const POOL = 2;
const IDS = Array.from({ length: 12 }, (_, index) => `n${index}`);
/** A wait for a connection is short, so that it is what ends first; what holds them may hold them long. */
const LIMITS: ConnectionLimits = {
  connectionTimeoutMillis: 600,
  query_timeout: 6_000,
  statement_timeout: 5_000,
  lock_timeout: 1_000,
  idle_in_transaction_session_timeout: 20_000,
};
/** A first try and three more, each as long as the wait for a connection, with room for a busy machine. */
const BOUND_MS = 4 * LIMITS.connectionTimeoutMillis + 1_500;

let rig: FaultRig;
let points: PausePoints;
let ana: string;
let bo: string;
let zoe: string;
beforeEach(async () => {
  points = createPausePoints();
  rig = await createFaultRig({ poolSize: POOL, connection: LIMITS, pause: points.pause });
  [ana, bo] = [rig.tokens.get('ana') as string, rig.tokens.get('bo') as string];
  zoe = (await rig.addTenant('globex', ['zoe'])).get('zoe') as string;
  for (const tenant of [TENANT, 'globex']) await rig.addTasks(tenant, IDS);
  // Also notes that the tokens are in use, so that calls from here on only read them.
  for (const token of [ana, bo, zoe]) await rig.rest(token, '/v1/me', undefined, 'GET');
});
afterEach(async () => {
  expect(rig.proxy.connections).toBeLessThanOrEqual(2 * POOL);
  expect(await brokenInvariants(rig.database)).toEqual({});
  expect(rig.faults).toEqual([]);
  await rig.close();
});

const claim = (token: string, id: string) => rig.rest(token, `/v1/nodes/${id}/claim`);
const claimByGraphql = (token: string, id: string, document = DOCUMENTS.claimLease as string) =>
  rig.graphql(token, document, { input: { nodeId: id } });
const codeOf = ({ body }: RestReply) => body.error?.code ?? body.errors?.[0].extensions.code;
const messageOf = ({ body }: RestReply): string => body.error?.message ?? body.errors?.[0].message;

it('calls are put off while batches hold every connection of the engine, and reads go on', async () => {
  const held: Promise<RestReply>[] = [];
  const stops: Stop[] = [];
  for (const id of IDS.slice(0, POOL)) {
    const stopped = points.next('locked');
    held.push(claim(ana, id));
    stops.push(await stopped);
  }
  const start = performance.now();
  const calls = IDS.map((id, index) => (index % 2 === 0 ? claim(zoe, id) : claimByGraphql(zoe, id)));
  expect((await rig.rest(zoe, '/v1/nodes/n0', undefined, 'GET')).status).toBe(200);
  const replies = await Promise.all(calls);
  expect(performance.now() - start).toBeLessThan(BOUND_MS);
  for (const reply of replies) {
    expect(codeOf(reply)).toMatch(/^unavailable$/i);
    expect(messageOf(reply)).toMatch(/nothing was done/i);
  }
  expect(await rig.database.sql(`SELECT FROM lease_event WHERE tenant_id = 'globex'`)).toEqual([]);

  for (const stop of stops) stop.go();
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
  expect((await Promise.all(IDS.map((id) => claim(zoe, id)))).map(({ status }) => status)).toEqual(IDS.map(() => 200));
});

it('calls are put off while every connection for reads is held, by both doors', async () => {
  const lock = await openTransaction(rig.database.url, 'LOCK TABLE person IN ACCESS EXCLUSIVE MODE');
  const start = performance.now();
  const replies = await Promise.all(
    IDS.flatMap((id) => [claim(ana, id), claimByGraphql(bo, id), rig.rest(ana, `/v1/nodes/${id}`, undefined, 'GET')]),
  );
  expect(performance.now() - start).toBeLessThan(LIMITS.lock_timeout + BOUND_MS);
  for (const reply of replies) {
    expect([reply.status, codeOf(reply)]).toEqual([503, expect.stringMatching(/^unavailable$/i)]);
    expect(reply.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(messageOf(reply)).toMatch(/nothing was done/i);
  }
  expect(await rig.database.sql('SELECT FROM lease_event')).toEqual([]);

  await lock.rollback();
  expect((await Promise.all(IDS.map((id) => claim(ana, id)))).map(({ status }) => status)).toEqual(IDS.map(() => 200));
});

it('a claim that stands is never told as undone, though its answer could not be completed', async () => {
  const document = `mutation ($input: ClaimLeaseInput!) {
    claimLease(input: $input) { ... on ClaimLeaseSuccess { lease { fence node { title } } } } }`;
  const committed = points.next('committed');
  const call = claimByGraphql(ana, 'n0', document);
  const stop = await committed;
  const lock = await openTransaction(rig.database.url, 'LOCK TABLE work_node IN ACCESS EXCLUSIVE MODE');
  stop.go();
  const reply = await call;
  expect(codeOf(reply)).toBe('UNAVAILABLE');
  expect(messageOf(reply)).toBe('The database did not answer. The call may be done or not; it is safe to repeat.');

  await lock.rollback();
  const again = await claimByGraphql(ana, 'n0', document);
  expect(again.body.data.claimLease.lease.fence).toBe('1');
});
