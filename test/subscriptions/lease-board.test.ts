import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import { type Board, boardOf, FOLLOW_BOARD } from '../support/board.ts';
import { createLiveRig, type LiveRig } from '../support/live-rig.ts';

let rig: LiveRig;
let boards: Board[] = [];
beforeAll(async () => {
  rig = await createLiveRig(2);
});
afterEach(() => {
  for (const board of boards) board.stop();
  boards = [];
});
afterAll(() => rig.close());

const here = () => rig.apps[0] as App;
const there = () => rig.apps[1] as App;

/** A board with its snapshot read. */
async function follow(filter: object = {}, { who = 'cleo', app = here() } = {}): Promise<Board> {
  const board = boardOf(rig.subscribe(who, FOLLOW_BOARD, { filter }, app));
  boards.push(board);
  await board.complete();
  return board;
}

async function call(who: string, path: string, body: object = {}, app = here()) {
  const headers = { Authorization: `Bearer ${rig.doors.token(who)}`, 'Content-Type': 'application/json' };
  const answer = await fetch(`${app.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { lease: { fence: string; expires_at: string } };
}

async function latestSeq(): Promise<string> {
  const headers = { Authorization: `Bearer ${rig.doors.token('ana')}` };
  const answer = await fetch(`${here().url}/v1/events?limit=1`, { headers });
  return String(((await answer.json()) as { latest_seq: unknown }).latest_seq);
}

describe('leaseBoard', () => {
  it('is one complete snapshot when nothing is held', async () => {
    const board = await follow({ project: 'none' });
    expect(board.snapshots).toEqual([
      { seq: await latestSeq(), serverTime: expect.any(String), leases: [], complete: true },
    ]);
  });

  it('is in parts of at most 500 with one seq, the last of them complete', async () => {
    const ids = await rig.doors.nodes(1_001, { project: 'big' });
    for (let from = 0; from < ids.length; from += 1_000)
      await call('ana', '/v1/queue/claim', { ids: ids.slice(from, from + 1_000) });
    const board = await follow({ project: 'big' });
    expect(board.snapshots.map(({ leases, complete }) => [leases.length, complete])).toEqual([
      [500, false],
      [500, false],
      [1, true],
    ]);
    expect(new Set(board.snapshots.map(({ seq }) => seq))).toEqual(new Set([await latestSeq()]));
    expect([...board.leases.keys()].sort()).toEqual(ids);
    await call('ana', '/v1/queue/release', { project: 'big' });
    await board.until(() => board.leases.size === 0);
  });

  it.each([
    ['this replica', here],
    ['the other replica', there],
  ])('tells each change that comes by %s, with the seq of its event', async (_name, app) => {
    const id = await rig.doors.node();
    const board = await follow({ nodeIds: [id] });
    const told = async () => {
      const change = await board.next();
      expect(change).toMatchObject({ nodeId: id, seq: await latestSeq() });
      return change.lease;
    };
    const { lease } = await call('ana', `/v1/nodes/${id}/claim`, {}, app());
    expect(await told()).toMatchObject({ by: { personId: 'ana' }, fence: lease.fence, expiresAt: lease.expires_at });
    await call('ana', `/v1/nodes/${id}/reserve`, {}, app());
    expect(await told()).toMatchObject({ reserved: true, fence: lease.fence });
    await call('ana', `/v1/nodes/${id}/extend`, { ms: 60_000, session: 's1' }, app());
    expect(await told()).toMatchObject({ reserved: false, session: 's1' });
    await call('ana', `/v1/nodes/${id}/release`, {}, app());
    expect(await told()).toBeNull();
    await call('bo', `/v1/nodes/${id}/status`, { status: 'active' }, app());
    expect(await told()).toMatchObject({ by: { personId: 'bo' }, fence: '2' });
    await call('admin', `/v1/nodes/${id}/break`, { reason: 'gone' }, app());
    expect(await told()).toBeNull();
    await call('ana', `/v1/nodes/${id}/claim`, { dispatch: 'd1' }, app());
    expect(await told()).toMatchObject({ fence: '3' });
    await call('ana', `/v1/nodes/${id}/claim`, { dispatch: 'd2', force: true }, app());
    expect(await told()).toMatchObject({ fence: '4' });
    await call('ana', `/v1/nodes/${id}/release`, {}, app());
    expect(await told()).toBeNull();
  });

  it.each([
    ['this replica', here, 1_000],
    ['the other replica', there, 2_000],
  ])('shows a heartbeat of %s, which is no event', async (_name, app, withinMs) => {
    const id = await rig.doors.node();
    await call('ana', `/v1/nodes/${id}/claim`);
    const board = await follow({ nodeIds: [id] });
    const before = board.leases.get(id)?.expiresAt;
    const seq = await latestSeq();
    const start = performance.now();
    const { lease } = await call('ana-one', `/v1/nodes/${id}/renew`, {}, app());
    const change = await board.next();
    expect(performance.now() - start).toBeLessThan(withinMs);
    expect(change).toMatchObject({ seq, lease: { expiresAt: lease.expires_at, agent: { agentId: 'ana-one' } } });
    expect(lease.expires_at > before).toBe(true);
    expect(await latestSeq()).toBe(seq);
  });

  it('shows a lease until it is ended, and ends it when it lapses', async () => {
    const id = await rig.doors.node({ project: 'short' });
    await rig.doors.policy({ claim_ttl_ms: 1_000 }, 'short');
    const board = await follow({ nodeIds: [id] });
    await call('ana', `/v1/nodes/${id}/claim`);
    expect((await board.next()).lease).toMatchObject({ by: { personId: 'ana' } });
    expect(await board.next()).toMatchObject({ lease: null, seq: await latestSeq() });
  });

  it('tells only what passes the filter, and says null when a lease passes no longer', async () => {
    const [a, b] = (await rig.doors.nodes(2)) as [string, string];
    const session = await follow({ session: 'run', nodeIds: [a, b] });
    const reserved = await follow({ reserved: true, nodeIds: [a, b] }, { app: there() });
    const agent = await follow({ agentId: 'ana-one', nodeIds: [a, b] });
    await call('bo', `/v1/nodes/${b}/claim`, { session: 'other' });
    await call('ana-one', `/v1/nodes/${a}/claim`, { session: 'run' });
    expect(await session.next()).toMatchObject({ nodeId: a, lease: { session: 'run' } });
    expect(await agent.next()).toMatchObject({ nodeId: a, lease: { agent: { agentId: 'ana-one' } } });
    await call('ana-two', `/v1/nodes/${a}/renew`, {}, there());
    expect(await agent.next()).toMatchObject({ nodeId: a, lease: null });
    await call('ana', `/v1/nodes/${a}/claim`, { session: 'next' });
    expect(await until(session, a)).toBeNull();
    await call('ana-one', `/v1/nodes/${a}/renew`, {}, there());
    expect(await agent.next()).toMatchObject({ nodeId: a, lease: { agent: { agentId: 'ana-one' } } });
    await call('ana', `/v1/nodes/${a}/reserve`);
    expect(await reserved.next()).toMatchObject({ nodeId: a, lease: { reserved: true } });
    await call('ana', `/v1/nodes/${a}/claim`);
    expect(await reserved.next()).toMatchObject({ nodeId: a, lease: null });
  });

  it('takes a lease in when its end comes into the window, and gives it up when a heartbeat moves it out', async () => {
    const id = await rig.doors.node({ project: 'window' });
    await rig.doors.policy({ claim_ttl_ms: 60_000 }, 'window');
    await call('ana', `/v1/nodes/${id}/claim`);
    const board = await follow({ project: 'window', expiringWithinMs: 59_000 });
    expect(board.leases.size).toBe(0);
    expect(await board.next()).toMatchObject({ nodeId: id, lease: { by: { personId: 'ana' } } });
    await call('ana', `/v1/nodes/${id}/renew`);
    expect(await board.next()).toMatchObject({ nodeId: id, lease: null });
  });

  it('refuses a window that is none', async () => {
    const messages = rig.subscribe('cleo', FOLLOW_BOARD, { filter: { expiringWithinMs: -1 } });
    const [message] = await Promise.all([messages.next()]).catch(async () => [{ errors: await messages.ended }]);
    expect(JSON.stringify(message)).toContain('INVALID_INPUT');
  });

  it('comes as server-sent events too', async () => {
    const id = await rig.doors.node();
    await call('ana', `/v1/nodes/${id}/claim`);
    const answer = await fetch(`${here().url}/graphql`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${rig.doors.token('cleo')}`,
        'Content-Type': 'application/json',
        Accept: 'text/event-stream',
      },
      body: JSON.stringify({ query: FOLLOW_BOARD, variables: { filter: { nodeIds: [id] } } }),
    });
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let text = '';
    const read = async (wanted: string) => {
      while (!text.includes(wanted)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`the stream ended: ${text}`);
        text += decoder.decode(value, { stream: true });
      }
    };
    await read('"complete":true');
    await call('ana', `/v1/nodes/${id}/release`);
    await read('"lease":null');
    await reader.cancel();
  });

  it('shows nothing of another tenant', async () => {
    const id = await rig.doors.node();
    const nextDoor = await follow({}, { who: 'zoe' });
    const board = await follow({ nodeIds: [id] });
    await call('ana', `/v1/nodes/${id}/claim`);
    await board.next();
    await call('ana', `/v1/nodes/${id}/release`);
    expect((await board.next()).lease).toBeNull();
    expect(nextDoor.messages).toBe(1);
    expect(nextDoor.leases.size).toBe(0);
  });
});

/** What a board comes to tell of a node, after what it told on the way. */
async function until(board: Board, nodeId: string): Promise<unknown> {
  await board.until(() => !board.leases.has(nodeId));
  return board.leases.get(nodeId) ?? null;
}
