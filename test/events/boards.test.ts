import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import type { BoardMessage } from '../../src/events/board.ts';
import { type Boards, type BoardsParts, createBoards } from '../../src/events/boards.ts';
import { createRelay, type Relay } from '../../src/events/relay.ts';
import type { PrismaClient } from '../../src/generated/prisma/client.ts';
import type { Command } from '../../src/lease/command.ts';
import type { LeaseView } from '../../src/lease/refusal.ts';
import { type LeaseFilter, listLeases } from '../../src/read/lease-list.ts';
import { breakLease, claim, expire, release, renew, reserve, setStatus } from '../support/commands.ts';
import { ana, anasAgent, bo, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';

/** Boards as a server has them, with the doorbell wired by hand. */
interface Scene {
  readonly boards: Boards;
  readonly relay: Relay;
  /** Runs commands here, so that the boards here are told. */
  run(...commands: Command[]): Promise<unknown>;
  /** Runs commands as another replica does. */
  runElsewhere(...commands: Command[]): Promise<unknown>;
}

let rig: EngineRig;
let elsewhere: Engine;
let made = 0;
let stops: (() => unknown)[] = [];
const log = { warn: () => {} };
/** Called before each read of the boards. */
let beforeRead: (sql: string) => unknown = () => {};

beforeAll(async () => {
  rig = await createEngineRig();
  elsewhere = rig.another();
  return () => rig.close();
});
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
  stops = [];
  beforeRead = () => {};
});

function scene(parts: Partial<BoardsParts> = {}): Scene {
  const reads = new Proxy(rig.clients.reads, {
    get(client, name) {
      if (name !== '$queryRawUnsafe') return Reflect.get(client, name);
      return async (sql: string, ...values: unknown[]) => {
        await beforeRead(sql);
        return client.$queryRawUnsafe(sql, ...values);
      };
    },
  }) as PrismaClient;
  const relay = createRelay({ reads, log });
  const boards = createBoards({ reads, relay, log, ...parts });
  const engine = rig.another({ onEvents: () => relay.ring(), onMoved: boards.moved });
  relay.start();
  stops.push(() => Promise.all([relay.stop(), boards.stop()]));
  return {
    boards,
    relay,
    run: (...commands) => engine.execute(TENANT, commands),
    async runElsewhere(...commands) {
      await elsewhere.execute(TENANT, commands);
      relay.ring();
    },
  };
}

async function nodes(count: number, project = `p${made}`): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `b${String(made + index).padStart(6, '0')}`);
  made += count;
  await rig.addNodes(ids, { project });
  return ids;
}

/** A board as its subscriber keeps it. */
function keep(messages: AsyncIterator<BoardMessage>) {
  const leases = new Map<string, LeaseView>();
  const told: BoardMessage[] = [];
  async function next(): Promise<BoardMessage> {
    const { value, done } = await messages.next();
    if (done) throw new Error('the board ended');
    told.push(value);
    if (value.kind === 'snapshot') for (const lease of value.leases) leases.set(lease.nodeId, lease);
    if (value.kind === 'change') {
      if (value.lease === null) leases.delete(value.nodeId);
      else leases.set(value.nodeId, value.lease);
    }
    return value;
  }
  stops.push(() => messages.return?.());
  return {
    leases,
    told,
    next,
    changesOf: (nodeId: string) => told.filter((each) => each.kind === 'change' && each.nodeId === nodeId),
    async complete() {
      for (let part = await next(); part.kind !== 'snapshot' || !part.complete; part = await next());
    },
    /** Reads until the lease of a node is told. */
    async until(nodeId: string) {
      while (!leases.has(nodeId)) await next();
    },
    stop: () => messages.return?.(),
  };
}

const shown = ({ nodeId, fence, holder, agent, session, claimedAt, expiresAt, reserved }: LeaseView) =>
  JSON.stringify([nodeId, String(fence), holder, agent, session, claimedAt, expiresAt, reserved]);

async function listed(filter: LeaseFilter): Promise<string[]> {
  const { rows } = await listLeases(rig.clients.reads, TENANT, filter, { order: 'AGE', limit: 5_000, after: null });
  return rows.map(({ item }) => shown(item)).sort();
}

const BOUNDS = /lease_event e/;
const PAGE = /ORDER BY l\.claimed_at/;

describe('B42: what commits while a board begins', () => {
  /** Runs the action before the nth read of that text. */
  const beforeThe = (nth: number, text: RegExp, action: () => Promise<unknown>) => {
    let seen = 0;
    beforeRead = (sql) => {
      if (!text.test(sql)) return undefined;
      seen += 1;
      return seen === nth ? action() : undefined;
    };
  };
  const points: [string, (action: () => Promise<unknown>) => void, number?][] = [
    ['before it is registered', (action) => beforeThe(1, BOUNDS, action)],
    ['before the first page', (action) => beforeThe(1, PAGE, action)],
    ['between the pages', (action) => beforeThe(2, PAGE, action)],
    ['before the first change is taken', () => {}, 2],
  ];

  it.each(points)('%s is in the snapshot or told, once', async (_name, arm, parts) => {
    const { boards, run, runElsewhere } = scene();
    const ids = await nodes(520);
    const project = `p${made - 520}`;
    const [freed, taken, moved, parked, again, broken, marker, last] = [
      ...ids.slice(0, 3),
      ...ids.slice(510, 513),
      ...ids.slice(518),
    ] as [string, string, string, string, string, string, string, string];
    const held = ids.filter((id) => ![taken, marker, last].includes(id));
    await elsewhere.execute(
      TENANT,
      held.map((id) => claim(id, bo)),
    );
    const action = async () => {
      await run(release(freed, bo), claim(taken, ana), renew(moved, bo, { session: 's' }), reserve(parked, bo));
      await runElsewhere(release(again, bo), claim(again, anasAgent), breakLease(broken, ana, null));
      await runElsewhere(setStatus(last, ana, 'active'));
    };
    arm(action);
    const board = keep(await boards.open(TENANT, { project }));
    await board.complete();
    if (parts !== undefined) await action();
    await run(claim(marker, ana));
    await board.until(marker);
    expect([...board.leases.values()].map(shown).sort()).toEqual(await listed({ project }));
    expect(board.leases.size).toBe(held.length + 1);
    for (const id of [freed, taken, moved, parked, again, broken, last]) {
      expect(board.changesOf(id).length).toBeLessThanOrEqual(1);
    }
    const snapshots = board.told.filter(({ kind }) => kind === 'snapshot');
    expect(snapshots).toHaveLength(2);
    expect(new Set(snapshots.map((each) => each.kind === 'snapshot' && each.seq)).size).toBe(1);
  });

  it('the same for a heartbeat, which is no event', async () => {
    const { boards, run, runElsewhere } = scene();
    const [here, there] = (await nodes(2)) as [string, string];
    await run(claim(here, bo), claim(there, bo));
    let done = false;
    beforeRead = async (sql) => {
      if (!PAGE.test(sql) || done) return;
      done = true;
      await run(renew(here, bo));
    };
    const board = keep(await boards.open(TENANT, { nodeIds: [here, there] }));
    await board.complete();
    await runElsewhere(renew(there, bo));
    await boards.runOnce();
    await board.next();
    expect([...board.leases.values()].map(shown).sort()).toEqual(await listed({ nodeIds: [here, there] }));
    expect(board.changesOf(here)).toEqual([]);
  });
});

describe('a board', () => {
  it('keeps a lease that has lapsed until it is ended, and never takes one that lives for ended', async () => {
    const { boards, run } = scene();
    const [id, marker] = (await nodes(2)) as [string, string];
    await run(claim(id, ana));
    const board = keep(await boards.open(TENANT, { nodeIds: [id, marker] }));
    await board.complete();
    await rig.database.sql(
      `UPDATE lease SET claimed_at = claimed_at - interval '2 h', expires_at = expires_at - interval '2 h',
         sweep_at = sweep_at - interval '2 h' WHERE node_id = $1`,
      id,
    );
    await boards.runOnce();
    await run(claim(marker, bo));
    await board.until(marker);
    expect(board.changesOf(id)).toEqual([]);
    expect(board.leases.has(id)).toBe(true);
    await run(expire(id, 1n));
    expect(await board.next()).toMatchObject({ kind: 'change', nodeId: id, lease: null });
    const late = keep(await boards.open(TENANT, { nodeIds: [id] }));
    await late.complete();
    expect(late.leases.size).toBe(0);
  });

  it('goes through its leases a bounded number a tick, and comes to each', async () => {
    const { boards, run, runElsewhere } = scene({ pagesATick: 1 });
    const ids = await nodes(1_100);
    const project = `p${made - 1_100}`;
    await run(...ids.map((id) => claim(id, ana)));
    const board = keep(await boards.open(TENANT, { project }));
    await board.complete();
    const last = [...board.leases.keys()].at(-1) as string;
    await runElsewhere(renew(last, ana));
    let pages = 0;
    beforeRead = (sql) => {
      if (PAGE.test(sql)) pages += 1;
    };
    for (let tick = 1; tick <= 3; tick += 1) {
      await boards.runOnce();
      expect(pages).toBe(tick);
    }
    expect(await board.next()).toMatchObject({ kind: 'change', nodeId: last, lease: { holder: 'ana' } });
  });

  it('that is not read has each node waiting once, and tells its latest state', async () => {
    const { boards, run, relay } = scene({ bound: 3 });
    const [id, marker] = (await nodes(2)) as [string, string];
    const board = keep(await boards.open(TENANT, { nodeIds: [id, marker] }));
    await board.complete();
    for (let round = 0; round < 20; round += 1) await run(claim(id, ana), release(id, ana));
    await run(claim(id, bo), claim(marker, bo));
    await relay.runOnce();
    expect(await board.next()).toMatchObject({ kind: 'change', nodeId: id, lease: { holder: 'bo', fence: 21n } });
    await board.until(marker);
    expect(board.told).toHaveLength(3);
  });

  it('B50: that falls too far behind is told so with the last seq it was handed, and the others are not', async () => {
    const { boards, run, relay } = scene({ bound: 50 });
    const ids = await nodes(102);
    const slow = keep(await boards.open(TENANT, { nodeIds: ids }));
    const other = keep(await boards.open(TENANT, { nodeIds: ids.slice(0, 40) }));
    await Promise.all([slow.complete(), other.complete()]);
    await run(claim(ids[0] as string, ana));
    const change = await slow.next();
    await run(...ids.slice(1).map((id) => claim(id, ana)));
    await relay.runOnce();
    expect(await slow.next()).toEqual({ kind: 'slow', lastSeq: change.kind === 'change' && change.seq });
    await expect(slow.next()).rejects.toThrow('the board ended');
    while (other.leases.size < 40) await other.next();
    expect(boards.size).toBe(1);
    const again = keep(await boards.open(TENANT, { nodeIds: ids }));
    await again.complete();
    expect(again.leases.size).toBe(102);
  });

  it('is not ended by the end of all its leases at once', async () => {
    const { boards, run, relay } = scene({ bound: 50 });
    const ids = await nodes(300);
    await run(...ids.map((id) => claim(id, ana)));
    const board = keep(await boards.open(TENANT, { nodeIds: ids }));
    await board.complete();
    await run(...ids.map((id) => release(id, ana)));
    await relay.runOnce();
    while (board.leases.size > 0) expect(await board.next()).toMatchObject({ kind: 'change', lease: null });
  });

  it('waits for a database that is out of reach, and goes on', async () => {
    const { boards, run } = scene();
    const [id] = (await nodes(1)) as [string];
    const board = keep(await boards.open(TENANT, { nodeIds: [id] }));
    await board.complete();
    let failed = 0;
    beforeRead = (sql) => {
      if (!/in_force/.test(sql) || failed > 0) return;
      failed += 1;
      throw Object.assign(new Error('gone'), { code: 'ECONNRESET' });
    };
    await run(claim(id, ana));
    expect(await board.next()).toMatchObject({ nodeId: id, lease: { holder: 'ana' } });
    expect(failed).toBe(1);
  });

  it('B48: that is left at any moment leaves nothing behind', async () => {
    const TICK = 54_321;
    const { boards, relay, run } = scene({ tickMs: TICK });
    const [id] = (await nodes(1)) as [string];
    const timers = new Set<unknown>();
    const set = vi.spyOn(globalThis, 'setTimeout');
    const clear = vi.spyOn(globalThis, 'clearTimeout');
    stops.push(() => vi.restoreAllMocks());
    boards.start();
    await run(claim(id, ana));
    const open = () => boards.open(TENANT, { nodeIds: [id] });
    const [unread, begun, waiting, behind] = await Promise.all([open(), open(), open(), open()]);
    await begun.next();
    await Promise.all([waiting.next(), behind.next()]);
    const pending = waiting.next();
    expect([boards.size, relay.subscribers]).toEqual([4, 4]);
    await run(renew(id, ana));
    for (const messages of [unread, begun, waiting, behind, begun]) await messages.return?.();
    expect(await pending).toMatchObject({ done: true });
    expect([boards.size, relay.subscribers]).toEqual([0, 0]);
    set.mock.calls.forEach(([, ms], index) => {
      if (ms === TICK || ms === 250) timers.add(set.mock.results[index]?.value);
    });
    expect(timers.size).toBe(2);
    for (const [timer] of clear.mock.calls) timers.delete(timer);
    expect(timers.size).toBe(0);
    let asked = false;
    boards.moved(TENANT, () => {
      asked = true;
      return [];
    });
    expect(asked).toBe(false);
  });
});
