import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { BRIEF, createFaultRig, type FaultRig, TENANT } from '../support/fault-rig.ts';
import { openTransaction } from '../support/open-transaction.ts';
import type { RestReply } from '../support/rest-client.ts';
import { until } from '../support/until.ts';

/**
 * An admin's changes do not go through the engine. One whose outcome is not known is told so, as an outage and never as
 * a fault, and may be repeated.
 */
let rig: FaultRig;
let admin: string;
beforeAll(async () => {
  rig = await createFaultRig({ connection: BRIEF, people: ['admin'] });
  admin = rig.tokens.get('admin') as string;
});
beforeEach(async () => {
  await rig.database.sql('DELETE FROM policy');
});
afterAll(() => rig.close());

const SET = 'mutation ($input: SetPolicyInput!) { setPolicy(input: $input) { __typename } }';
const setPolicy = () => rig.graphql(admin, SET, { input: { claimTtlMs: 60_000 } });
const policies = () => rig.database.sql('SELECT claim_ttl_ms::int AS ttl FROM policy WHERE tenant_id = $1', TENANT);

function expectPutOff({ body }: RestReply): void {
  const message = 'The database did not answer. The call may be done or not; it is safe to repeat.';
  expect(body.errors).toMatchObject([{ message, extensions: { code: 'UNAVAILABLE' } }]);
  expect(rig.faults).toEqual([]);
}

async function expectRepeats(): Promise<void> {
  expect((await setPolicy()).body.errors).toBeUndefined();
  expect(await policies()).toEqual([{ ttl: 60_000 }]);
}

it.each([
  ['answer', 'cut', 1],
  ['request', 'cut', 0],
  ['answer', 'silence', 1],
  ['request', 'silence', 0],
] as const)('a policy may be set again when the %s of its commit is lost by %s', async (what, by, stands) => {
  const lost = rig.proxy.loseNextCommit(what, by);
  expectPutOff(await setPolicy());
  await lost;
  expect(await policies()).toHaveLength(stands);
  await expectRepeats();
});

it('a policy whose table is locked too long may be set again', async () => {
  const lock = await openTransaction(rig.database.url, 'LOCK TABLE policy IN ACCESS EXCLUSIVE MODE');
  expectPutOff(await setPolicy());
  await lock.rollback();
  await expectRepeats();
});

it('a policy whose session the database ends may be set again', async () => {
  const lock = await openTransaction(rig.database.url, 'LOCK TABLE policy IN ACCESS EXCLUSIVE MODE');
  const setting = setPolicy();
  const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND application_name = 'holdfast-reads' AND wait_event_type = 'Lock'`;
  await until('its session is ended', async () => (await rig.database.sql(end)).length > 0);
  expectPutOff(await setting);
  await lock.rollback();
  await expectRepeats();
});
