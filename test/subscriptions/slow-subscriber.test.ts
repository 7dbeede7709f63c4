import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TENANT } from '../support/rig.ts';
import { createSocketRig, type RawSocket, type SocketRig } from '../support/socket-rig.ts';
import { until } from '../support/until.ts';

const EVENTS = 50_000;
const CHUNK = 1_000;
const QUERY = `subscription ($after: String) {
  leaseEvents(after: $after) { ... on LeaseEvent { seq nodeId } ... on LeaseEventCursor { cursor: seq } }
}`;
/** One transaction's worth of history, as the engine appends it. */
const APPEND = `
WITH place AS (
  UPDATE tenant SET seq = seq + $2::int WHERE tenant_id = $1 RETURNING seq - $2::int AS base
)
INSERT INTO lease_event (tenant_id, seq, at, kind, node_id, status, batch)
SELECT $1, base + n, holdfast_now(), 'STATUS_CHANGED', 'node-' || n || repeat('x', 190), 'open', base
FROM place, generate_series(1, $2::int) AS n`;

let rig: SocketRig;
beforeAll(async () => {
  // A paused client does not answer pings either; here it is its queue that ends it.
  rig = await createSocketRig({ pingMs: 300_000 });
  setFlagsFromString('--expose-gc');
});
afterAll(() => rig.close());

/** What is really in use. */
function usedMb(): number {
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed / 1_048_576;
}

interface Follower {
  readonly raw: RawSocket;
  count: number;
  last: number;
  inOrder: boolean;
  /** The errors that ended it. */
  errors: { readonly extensions: { readonly code: string; readonly lastSeq: string } }[] | null;
}

async function follow(after?: number): Promise<Follower> {
  const raw = await rig.letIn('cleo');
  const follower: Follower = { raw, count: 0, last: after ?? 0, inOrder: true, errors: null };
  raw.socket.removeAllListeners('message');
  let begun = () => {};
  const first = new Promise<void>((resolve) => {
    begun = resolve;
  });
  raw.socket.on('message', (data) => {
    const { type, payload } = JSON.parse(String(data));
    begun();
    if (type === 'error') follower.errors = payload;
    if (type !== 'next') return;
    if (payload.errors !== undefined) {
      follower.errors = payload.errors;
      return;
    }
    const { seq, cursor } = payload.data.leaseEvents;
    follower.last = follower.count === 0 && cursor !== undefined ? Number(cursor) : follower.last;
    if (seq === undefined) return;
    if (Number(seq) !== follower.last + 1) follower.inOrder = false;
    follower.last = Number(seq);
    follower.count += 1;
  });
  const variables = after === undefined ? {} : { after: String(after) };
  raw.send({ id: '1', type: 'subscribe', payload: { query: QUERY, variables } });
  await first;
  return follower;
}

describe('B50', () => {
  it('one that stops reading is told so and resumes, and costs the others nothing', { timeout: 180_000 }, async () => {
    const [slow, ...others] = [await follow(), await follow(), await follow()];
    // Warm, so that what is compiled and cached once does not count.
    await rig.doors.database.sql(APPEND, TENANT, CHUNK);
    rig.live.relay.ring();
    await until('all are warm', () => [slow, ...others].every(({ count }) => count === CHUNK));
    slow.raw.socket.pause();
    const before = usedMb();
    for (let at = 0; at < EVENTS; at += CHUNK) {
      await rig.doors.database.sql(APPEND, TENANT, CHUNK);
      rig.live.relay.ring();
    }
    for (const each of others) {
      await until('the others have all', () => each.last === CHUNK + EVENTS, { limitMs: 120_000 });
      expect(each).toMatchObject({ count: CHUNK + EVENTS, inOrder: true, errors: null });
    }
    // The history that passed is some 25 MB as it stands in the queue of nobody.
    expect(usedMb() - before).toBeLessThan(12);
    expect(slow.last).toBeLessThan(CHUNK + EVENTS);

    slow.raw.socket.resume();
    await until('the slow one is told', () => slow.errors !== null);
    expect(slow.errors).toMatchObject([{ extensions: { code: 'SLOW_CONSUMER', lastSeq: String(slow.last) } }]);
    expect(slow.inOrder).toBe(true);
    const again = await follow(slow.last);
    await until('it has caught up', () => again.last === CHUNK + EVENTS, { limitMs: 120_000 });
    expect(again).toMatchObject({ inOrder: true, errors: null, count: CHUNK + EVENTS - slow.last });
    for (const each of [slow, again, ...others]) each.raw.socket.terminate();
    await until('nobody is left', () => rig.live.relay.subscribers === 0);
  });

  it('1,000 subscribe messages in one burst are answered each, up to the limit by events', async () => {
    const raw = await rig.letIn('cleo');
    for (let index = 0; index < 1_000; index += 1) {
      raw.send({ id: `s${index}`, type: 'subscribe', payload: { query: QUERY } });
    }
    const told = new Map<string, string>();
    while (told.size < 1_000) {
      const { id, type, payload } = await raw.next();
      told.set(id, type === 'next' ? 'cursor' : payload[0].extensions.code);
    }
    const cursors = [...told.values()].filter((how) => how === 'cursor');
    expect(new Set(told.values())).toEqual(new Set(['cursor', 'LIMIT_REACHED']));
    await until('they have joined', () => rig.live.relay.subscribers === cursors.length);
    await rig.doors.database.sql(APPEND, TENANT, 1);
    rig.live.relay.ring();
    const reached = new Set<string>();
    while (reached.size < cursors.length) reached.add((await raw.next()).id);
    expect(cursors).toHaveLength(100);
    raw.socket.terminate();
    await until('nobody is left', () => rig.live.relay.subscribers === 0);
  });
});
