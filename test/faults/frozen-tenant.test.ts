import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ConnectionLimits } from '../../src/db/connect.ts';
import { createFaultRig, type FaultRig, TENANT } from '../support/fault-rig.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { openTransaction } from '../support/open-transaction.ts';

/**
 * The tenant's row is the one lock that a batch waits for. A session that froze while it held it stalls that tenant's
 * events, until the database ends it; heartbeats, which make no events, and other tenants go on.
 */
const IDS = Array.from({ length: 8 }, (_, index) => `n${index}`);
/** The limits of a connection, in the same proportions: long enough for all others to be done on a busy machine. */
const HALF: ConnectionLimits = {
  connectionTimeoutMillis: 1_500,
  query_timeout: 3_000,
  statement_timeout: 2_500,
  lock_timeout: 500,
  idle_in_transaction_session_timeout: 1_000,
};
const ROW = `UPDATE tenant SET seq = seq WHERE tenant_id = '${TENANT}'`;

let rig: FaultRig;
let ana: string;
let zoe: string;
beforeEach(async () => {
  rig = await createFaultRig({ connection: HALF });
  ana = rig.tokens.get('ana') as string;
  zoe = (await rig.addTenant('globex', ['zoe'])).get('zoe') as string;
  for (const tenant of [TENANT, 'globex']) await rig.addTasks(tenant, [...IDS, 'held']);
  for (const token of [ana, zoe]) expect((await rig.rest(token, '/v1/nodes/held/claim')).status).toBe(200);
});
afterEach(async () => {
  expect(await brokenInvariants(rig.database)).toEqual({});
  expect(rig.faults).toEqual([]);
  await rig.close();
});

const claimAll = (token: string) => Promise.all(IDS.map((id) => rig.rest(token, `/v1/nodes/${id}/claim`)));
const renewAll = () => Promise.all(IDS.map(() => rig.rest(ana, '/v1/nodes/held/renew')));
const ALL_DONE = IDS.map(() => 200);

it('its claims wait until the database ends the frozen session, then are answered', async () => {
  const frozen = await openTransaction(rig.database.url, ROW, HALF.idle_in_transaction_session_timeout);
  const order: string[] = [];
  const note = (what: string) => () => void order.push(what);
  const claims = claimAll(ana);
  await Promise.all([
    claims.then(note('claims of the tenant')),
    renewAll().then(note('its heartbeats')),
    claimAll(zoe).then(note('claims of another tenant')),
    frozen.ended.then(note('the frozen session ended')),
  ]);
  expect(order.slice(-2)).toEqual(['the frozen session ended', 'claims of the tenant']);
  expect((await claims).map(({ status }) => status)).toEqual(ALL_DONE);
});

it('its claims are put off when the session is never ended, and everything else goes on', async () => {
  const frozen = await openTransaction(rig.database.url, ROW);
  const [claims, beats, others] = await Promise.all([claimAll(ana), renewAll(), claimAll(zoe)]);
  expect([beats, others].map((replies) => replies.map(({ status }) => status))).toEqual([ALL_DONE, ALL_DONE]);
  for (const { status, headers, body } of claims) {
    expect([status, body.error.code]).toEqual([503, 'unavailable']);
    expect(body.error.message).toMatch(/nothing was done/i);
    expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
  }
  await frozen.rollback();
  expect((await claimAll(ana)).map(({ body }) => body.lease.fence)).toEqual(IDS.map(() => '1'));
});
