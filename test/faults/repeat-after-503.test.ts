import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { BRIEF, createFaultRig, type FaultRig, TENANT } from '../support/fault-rig.ts';
import { DOCUMENTS } from '../support/graphql-documents.ts';
import { brokenInvariants } from '../support/invariants.ts';
import type { RestReply } from '../support/rest-client.ts';

/**
 * A call whose COMMIT is lost is answered 503 and may be repeated as it stands, by either door: it then has its effect,
 * and has it once.
 */
let rig: FaultRig;
let ana: string;
let nodes = 0;
beforeAll(async () => {
  rig = await createFaultRig({ connection: BRIEF });
  ana = rig.tokens.get('ana') as string;
});
afterEach(async () => {
  expect(await brokenInvariants(rig.database)).toEqual({});
  expect(rig.faults).toEqual([]);
});
afterAll(() => rig.close());

interface Call {
  readonly held: boolean;
  readonly rest: (ids: readonly string[]) => readonly [path: string, body: object];
  readonly graphql: (ids: readonly string[]) => readonly [field: string, input: object];
  /** The events of each node, however often the call took effect. */
  readonly events: readonly string[];
}

const node = ([id]: readonly string[], verb: string) => `/v1/nodes/${id}/${verb}`;
const CALLS: Readonly<Record<string, Call>> = {
  claim: {
    held: false,
    rest: (ids) => [node(ids, 'claim'), {}],
    graphql: ([nodeId]) => ['claimLease', { nodeId }],
    events: ['CLAIMED'],
  },
  extend: {
    held: true,
    rest: (ids) => [node(ids, 'extend'), { ms: 1_000 }],
    graphql: ([nodeId]) => ['extendLease', { nodeId, ms: 1_000 }],
    events: ['CLAIMED', 'EXTENDED'],
  },
  reserve: {
    held: true,
    rest: (ids) => [node(ids, 'reserve'), {}],
    graphql: ([nodeId]) => ['reserveLease', { nodeId }],
    events: ['CLAIMED', 'RESERVED'],
  },
  release: {
    held: true,
    rest: (ids) => [node(ids, 'release'), {}],
    graphql: ([nodeId]) => ['releaseLease', { nodeId }],
    events: ['CLAIMED', 'RELEASED'],
  },
  status: {
    held: false,
    rest: (ids) => [node(ids, 'status'), { status: 'active' }],
    graphql: ([nodeId]) => ['setNodeStatus', { nodeId, status: 'active' }],
    events: ['STATUS_CHANGED', 'CLAIMED'],
  },
  'bulk claim': {
    held: false,
    rest: (ids) => ['/v1/queue/claim', { ids }],
    graphql: (nodeIds) => ['claimLeases', { nodeIds }],
    events: ['CLAIMED'],
  },
  'release of all held': {
    held: true,
    rest: () => ['/v1/queue/release', {}],
    graphql: () => ['releaseHeldLeases', {}],
    events: ['CLAIMED', 'RELEASED'],
  },
};

const DOORS: Readonly<Record<string, (call: Call, ids: readonly string[]) => Promise<RestReply>>> = {
  REST: ({ rest }, ids) => rig.rest(ana, ...rest(ids)),
  GraphQL({ graphql }, ids) {
    const [field, input] = graphql(ids);
    return rig.graphql(ana, DOCUMENTS[field] as string, { input });
  },
};

const LOSSES = [
  ['answer', 'cut'],
  ['request', 'cut'],
  ['answer', 'silence'],
  ['request', 'silence'],
] as const;

describe.each(Object.entries(DOORS))('by %s', (door, send) => {
  describe.each(LOSSES)('the %s of a commit is lost by %s', (what, by) => {
    it.each(Object.entries(CALLS))('%s may be repeated', async (_name, call) => {
      const ids = Array.from({ length: 3 }, () => `n${++nodes}`);
      await rig.addTasks(TENANT, ids);
      if (call.held) await rig.rest(ana, '/v1/queue/claim', { ids });
      const lost = rig.proxy.loseNextCommit(what, by);
      const put = await send(call, ids);
      await lost;
      expectSafeToRepeat(door, put);

      const start = performance.now();
      const again = await send(call, ids);
      // On a connection that works: one that had been silent would have cost a whole limit again.
      expect(performance.now() - start).toBeLessThan(BRIEF.query_timeout);
      expect([again.status, again.body.error, again.body.errors]).toEqual([200, undefined, undefined]);
      for (const nodeId of touched(call, ids)) expect(await eventsOf(nodeId)).toEqual(call.events);
    });

    it('a heartbeat runs again by itself and is answered', async () => {
      await rig.addTasks(TENANT, [`beat${++nodes}`]);
      const id = `beat${nodes}`;
      await rig.rest(ana, `/v1/nodes/${id}/claim`);
      const lost = rig.proxy.loseNextCommit(what, by);
      const reply = await rig.rest(ana, `/v1/nodes/${id}/renew`);
      await lost;
      expect([reply.status, reply.body.lease?.fence]).toEqual([200, '1']);
      const [row] = await rig.database.sql<{ expires: string }>(
        'SELECT holdfast_ms(expires_at)::text AS expires FROM lease WHERE node_id = $1',
        id,
      );
      expect(row?.expires).toBe(String(reply.body.lease.expires));
    });
  });
});

function expectSafeToRepeat(door: string, { status, headers, body }: RestReply): void {
  const safe = expect.stringMatching(/safe to repeat/);
  if (door === 'REST') {
    expect([status, body.error]).toEqual([503, { code: 'unavailable', message: safe }]);
    expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
  } else {
    expect(body.errors).toMatchObject([{ message: safe, extensions: { code: 'UNAVAILABLE', retryAfterMs: 1_000 } }]);
  }
}

/** The nodes that the call names, of those that were made for it. */
function touched({ rest }: Call, ids: readonly string[]): readonly string[] {
  return rest(ids)[0].startsWith('/v1/queue') ? ids : ids.slice(0, 1);
}

/** The kinds of a node's events; what may rightly happen twice (an extension, a grace window that restarts) once. */
async function eventsOf(nodeId: string): Promise<string[]> {
  const rows = await rig.database.sql<{ kind: string }>(
    'SELECT kind FROM lease_event WHERE node_id = $1 ORDER BY seq',
    nodeId,
  );
  const repeatable = new Set(['EXTENDED', 'RESERVED']);
  return rows.map(({ kind }) => kind).filter((kind, index, all) => !(repeatable.has(kind) && kind === all[index - 1]));
}
