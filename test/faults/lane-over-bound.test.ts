import { afterEach, beforeEach, expect, it } from 'vitest';
import { LANE_LIMITS } from '../../src/engine/lanes.ts';
import { createFaultRig, type FaultRig, TENANT } from '../support/fault-rig.ts';
import { DOCUMENTS } from '../support/graphql-documents.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { createPausePoints, type PausePoints, type Stop } from '../support/pause-points.ts';
import type { RestReply } from '../support/rest-client.ts';

/** A lane takes so many commands and keeps them so long. Whoever is beyond that is told at once, and nobody else is. */
const LIMITS = { ...LANE_LIMITS, mostInFlight: 1, mostWaiting: 5, longestWaitMs: 400 };
const IDS = Array.from({ length: 20 }, (_, index) => `n${index}`);

let rig: FaultRig;
let points: PausePoints;
let ana: string;
let stop: Stop;
let first: Promise<RestReply>;
beforeEach(async () => {
  points = createPausePoints();
  rig = await createFaultRig({ limits: LIMITS, pause: points.pause });
  ana = rig.tokens.get('ana') as string;
  await rig.addTasks(TENANT, [...IDS, 'first', 'held']);
  await rig.rest(ana, '/v1/nodes/held/claim');
  const stopped = points.next('locked');
  first = rig.rest(ana, '/v1/nodes/first/claim');
  stop = await stopped;
});
afterEach(async () => {
  stop.go();
  expect((await first).status).toBe(200);
  expect(await brokenInvariants(rig.database)).toEqual({});
  expect(rig.faults).toEqual([]);
  await rig.close();
});

const claim = (id: string) => rig.rest(ana, `/v1/nodes/${id}/claim`);
const claimByGraphql = (id: string) => rig.graphql(ana, DOCUMENTS.claimLease as string, { input: { nodeId: id } });

it('calls beyond the bound are put off at once, those within it when they have waited too long', async () => {
  const replies = await Promise.all(IDS.map(claim));
  expect(replies.map(({ status }) => status)).toEqual(IDS.map(() => 503));
  for (const { headers, body } of replies) {
    expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(body.error).toEqual({ code: 'unavailable', message: expect.stringMatching(/nothing was done/i) });
  }
  const messages = replies.map(({ body }) => body.error.message as string);
  expect(messages.filter((message) => message.startsWith('5 commands are waiting already'))).toHaveLength(15);
  expect(messages.filter((message) => message.includes('did not come to it in time'))).toHaveLength(5);
});

it('nothing of a call that was put off is done, and it may be repeated', async () => {
  const replies = await Promise.all(IDS.map(claim));
  expect(replies.every(({ status }) => status === 503)).toBe(true);
  stop.go();
  expect((await claim('first')).body.lease.fence).toBe('1');
  const done = 'SELECT node_id FROM lease_event WHERE node_id = ANY ($1)';
  expect(await rig.database.sql(done, IDS)).toEqual([]);
  expect(
    await rig.database.sql('SELECT node_id FROM lease WHERE holder IS NOT NULL AND node_id = ANY ($1)', IDS),
  ).toEqual([]);
  for (const id of IDS) expect((await claim(id)).status).toBe(200);
});

it('a call of many is put off as a whole, and says that part of it may be done', async () => {
  const { status, headers, body } = await rig.rest(ana, '/v1/queue/claim', { ids: IDS });
  expect([status, body.error.code]).toEqual([503, 'unavailable']);
  expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(body.error.message).toMatch(/part of it may be done; it is safe to repeat/i);
});

it('GraphQL says so in its own words', async () => {
  const replies = await Promise.all(IDS.map(claimByGraphql));
  for (const { body } of replies) {
    const [error] = body.errors;
    expect(error).toMatchObject({ extensions: { code: 'UNAVAILABLE', retryAfterMs: 1_000 } });
    expect(error.message).toMatch(/nothing was done/i);
  }
});

it('the lanes of other tenants, and the heartbeats of this one, go on', async () => {
  const zoe = (await rig.addTenant('globex', ['zoe'])).get('zoe') as string;
  await rig.addTasks('globex', IDS);
  const crowd = IDS.map(claim);
  // Queued for as long as the first of the crowd waits, so all of this happens while the lane is full.
  const others = [0, 1, 2].map((index) => rig.rest(zoe, `/v1/nodes/n${index}/claim`));
  const beats = [0, 1, 2].map(() => rig.rest(ana, '/v1/nodes/held/renew'));
  expect((await Promise.all([...others, ...beats])).map(({ status }) => status)).toEqual(
    Array.from({ length: 6 }, () => 200),
  );
  expect((await Promise.all(crowd)).every(({ status }) => status === 503)).toBe(true);
});
