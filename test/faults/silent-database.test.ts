import { afterEach, beforeEach, expect, it } from 'vitest';
import { claim as claimCommand, renew } from '../support/commands.ts';
import { BRIEF, createFaultRig, type FaultRig, TENANT } from '../support/fault-rig.ts';
import { DOCUMENTS } from '../support/graphql-documents.ts';
import { brokenInvariants } from '../support/invariants.ts';

/**
 * Nothing passes to the database or back, and nobody says so. Every wait ends by a limit of its own; when the way is open
 * again, the next call is answered.
 */
const IDS = Array.from({ length: 12 }, (_, index) => `n${index}`);
const CALLER = { person: 'ana', agent: null };

let rig: FaultRig;
let ana: string;
beforeEach(async () => {
  rig = await createFaultRig({ connection: BRIEF });
  ana = rig.tokens.get('ana') as string;
  await rig.addTasks(TENANT, IDS);
});
afterEach(async () => {
  rig.proxy.speak();
  expect(await brokenInvariants(rig.database)).toEqual({});
  expect(rig.faults).toEqual([]);
  await rig.close();
});

const claim = (id: string) => rig.rest(ana, `/v1/nodes/${id}/claim`);
const claimByGraphql = (id: string) => rig.graphql(ana, DOCUMENTS.claimLease as string, { input: { nodeId: id } });
const get = (path: string) => rig.rest(ana, path, undefined, 'GET');
const statuses = (replies: readonly { status: number }[]) => replies.map(({ status }) => status);

it('calls of both doors are put off within the limits, and the probes tell', async () => {
  expect(statuses(await Promise.all(IDS.map(claim)))).toEqual(IDS.map(() => 200));
  rig.proxy.silence();
  const start = performance.now();
  const calls = [...IDS.map(claim), ...IDS.map(claimByGraphql), get('/v1/nodes/n0'), get('/readyz')];
  expect((await get('/livez')).status).toBe(200);
  const replies = await Promise.all(calls);
  // A connection that there was may be waited for once, and for a new one after that.
  expect(performance.now() - start).toBeLessThan(BRIEF.query_timeout + BRIEF.connectionTimeoutMillis + 1_000);
  expect(statuses(replies)).toEqual(calls.map(() => 503));
  for (const { headers } of replies) expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);

  rig.proxy.speak();
  expect(statuses(await Promise.all([...IDS.map(claim), get('/readyz')]))).toEqual([...IDS, 'ready'].map(() => 200));
  expect(rig.proxy.connections).toBeLessThanOrEqual(8);
});

it('a call that is past its door is put off too, and is not tried for ever', async () => {
  // The engine alone: while nothing passes, the doors can't tell who calls.
  const run = (nodeId: string) => rig.engine.executeOne(TENANT, claimCommand(nodeId, CALLER));
  await run('n0');
  rig.proxy.silence();
  const start = performance.now();
  await expect(run('n1')).rejects.toThrow(/nothing was done/i);
  expect(performance.now() - start).toBeLessThan(BRIEF.query_timeout + 3 * BRIEF.connectionTimeoutMillis + 1_000);
  rig.proxy.speak();
  await expect(run('n1')).resolves.toMatchObject({ lease: { fence: 1n } });
});

it('a heartbeat whose commit is in doubt is not told that nothing was done, though no later try could begin', async () => {
  await rig.engine.executeOne(TENANT, claimCommand('n0', CALLER));
  const lost = rig.proxy.loseNextCommit('answer');
  const beat = rig.engine.executeOne(TENANT, renew('n0', CALLER));
  const told = expect(beat).rejects.toThrow(/outcome is unknown.*safe to repeat/);
  await lost;
  rig.proxy.silence();
  await told;
});
