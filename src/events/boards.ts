import DataLoader from 'dataloader';
import type { Logger } from 'pino';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { LeaseView } from '../lease/refusal.ts';
import { readClock } from '../read/clock.ts';
import { readEventBounds } from '../read/lease-events.ts';
import { type LeaseFilter, listLeases } from '../read/lease-list.ts';
import type { Page } from '../read/page.ts';
import { readStandingLeases } from '../read/standing-leases.ts';
import { type Board, type BoardMessage, createBoard, type Looked } from './board.ts';
import type { Relay } from './relay.ts';

/**
 * The boards that are followed in this process.
 *
 * What is durable reaches them by the relay. Heartbeats are no events: those of this replica are told by its engine,
 * merged over a moment; those of others, and whatever else lets a lease pass a filter or no longer, such as time, are
 * found by looking. Each tick looks again at the leases that end soonest, and goes on with a round through all that the
 * filter selects, a bounded number of both. Up to that number, 10,000 leases, all is seen at each tick.
 *
 * Boards of one tenant with the same filter are looked for together. Without boards there is no timer and no read.
 */
export interface Boards {
  /** Registers a board at once; its messages are read as they are taken. */
  open(tenantId: string, filter: LeaseFilter): Promise<AsyncIterableIterator<BoardMessage>>;
  /** The engine tells which leases moved without an event. They are asked for only where a board wants to know. */
  moved(tenantId: string, nodeIds: () => Iterable<string>): void;
  /** Looks once for what nobody tells. */
  runOnce(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
  /** Boards of all tenants. */
  readonly size: number;
}

export interface BoardsParts {
  readonly reads: PrismaClient;
  readonly relay: Relay;
  readonly log: Pick<Logger, 'warn'>;
  /** Nodes that may wait for one board, beyond one for each lease that it shows. */
  readonly bound?: number;
  readonly tickMs?: number;
  /** Pages of 500 leases that a round goes on by at each tick. */
  readonly pagesATick?: number;
}

/** Boards of one tenant with the same filter. */
interface Group {
  readonly tenantId: string;
  readonly filter: LeaseFilter;
  readonly boards: Set<Board>;
  readonly look: (nodeId: string) => Promise<Looked>;
  /** How many rounds were begun, and where this one is. */
  round: number;
  cursor: string | null;
}

interface Moved {
  readonly nodeIds: Set<string>;
  readonly timer: NodeJS.Timeout;
}

/** Heartbeats of other replicas are promised within 2 s; this leaves time for the reading. */
const TICK_MS = 1_200;
const MERGE_MS = 250;
const PAGE = 500;
const PAGES_A_TICK = 20;
const MOST_ENDING_A_TICK = 500;
/** Reads under way for all boards, so that calls find connections too. */
const MOST_AT_ONCE = 4;

export function createBoards(parts: BoardsParts): Boards {
  const { reads, relay, log, bound, tickMs = TICK_MS, pagesATick = PAGES_A_TICK } = parts;
  const groups = new Map<string, Group>();
  const moves = new Map<string, Moved>();
  let timer: NodeJS.Timeout | undefined;
  let pass: Promise<void> | undefined;
  let running = false;

  const groupsOf = (tenantId: string) => [...groups.values()].filter((group) => group.tenantId === tenantId);

  function groupFor(tenantId: string, filter: LeaseFilter): Group {
    const key = keyOf(tenantId, filter);
    const known = groups.get(key);
    if (known !== undefined) return known;
    const loader = new DataLoader<string, Looked>(
      async (asked) => {
        const { seq, ofNode } = await readStandingLeases(reads, tenantId, filter, [...new Set(asked)]);
        return asked.map((nodeId) => ({ standing: ofNode.get(nodeId) ?? null, seq }));
      },
      { cache: false, maxBatchSize: PAGE },
    );
    const look = (nodeId: string) => loader.load(nodeId);
    const group: Group = { tenantId, filter, boards: new Set(), look, round: 1, cursor: null };
    groups.set(key, group);
    if (groups.size === 1) schedule(tickMs);
    return group;
  }

  function leave(group: Group, board: Board): void {
    const { tenantId, filter, boards } = group;
    boards.delete(board);
    if (boards.size > 0) return;
    const key = keyOf(tenantId, filter);
    if (groups.get(key) === group) groups.delete(key);
    if (groupsOf(tenantId).length === 0) {
      clearTimeout(moves.get(tenantId)?.timer);
      moves.delete(tenantId);
    }
    if (groups.size === 0) clearTimeout(timer);
  }

  async function open(tenantId: string, filter: LeaseFilter): Promise<AsyncIterableIterator<BoardMessage>> {
    const { latestSeq } = await readEventBounds(reads, tenantId);
    // From here to the end nothing waits, so the relay can't move on before the board is registered with it.
    const head = relay.headOf(tenantId);
    const from = head !== null && head > latestSeq ? head : latestSeq;
    const wanted = filter.nodeIds == null ? null : new Set(filter.nodeIds);
    const leaveRelay = relay.join(tenantId, from, (event) => {
      if (event === 'lost') board.lost();
      else if (wanted === null || wanted.has(event.nodeId)) board.changed(event.nodeId, event.seq);
    });
    if (leaveRelay === null) throw new Error('the relay moved on while a board was registered with it');
    const group = groupFor(tenantId, filter);
    const board: Board = createBoard({
      from,
      bound,
      page: (after) => pageOf(group, after),
      clock: () => readClock(reads),
      look: group.look,
      round: () => group.round,
      onEnd() {
        leaveRelay();
        leave(group, board);
      },
    });
    group.boards.add(board);
    return board.messages;
  }

  function pageOf({ tenantId, filter }: Group, after: string | null): Promise<Page<LeaseView>> {
    return listLeases(reads, tenantId, filter, { order: 'AGE', limit: PAGE, after });
  }

  function tellMoved(tenantId: string): void {
    const nodeIds = moves.get(tenantId)?.nodeIds ?? [];
    moves.delete(tenantId);
    for (const { boards, filter } of groupsOf(tenantId)) {
      const wanted = filter.nodeIds == null ? null : new Set(filter.nodeIds);
      for (const nodeId of nodeIds) {
        if (wanted === null || wanted.has(nodeId)) for (const board of boards) board.moved(nodeId);
      }
    }
  }

  async function runOnce(): Promise<void> {
    const waiting = groups.values();
    const lookAtNext = async () => {
      for (const group of waiting) {
        await lookAround(group).catch((err: unknown) =>
          log.warn({ err }, 'boards could not look for heartbeats; it is tried again'),
        );
      }
    };
    await Promise.all(Array.from({ length: MOST_AT_ONCE }, lookAtNext));
  }

  async function lookAround(group: Group): Promise<void> {
    for (const board of group.boards) board.lookAtEnding(2 * tickMs, MOST_ENDING_A_TICK);
    for (let page = 0; page < pagesATick && group.boards.size > 0; page += 1) {
      const { rows, hasMore } = await pageOf(group, group.cursor);
      for (const board of group.boards) for (const { item } of rows) board.met(item);
      group.cursor = hasMore ? (rows.at(-1)?.cursor ?? null) : null;
      if (group.cursor !== null) continue;
      for (const board of group.boards) board.roundOver(group.round);
      group.round += 1;
      return;
    }
  }

  function schedule(afterMs: number): void {
    clearTimeout(timer);
    if (running && groups.size > 0) timer = setTimeout(run, afterMs);
  }

  function run(): void {
    if (pass !== undefined) return;
    const start = performance.now();
    pass = runOnce().then(() => {
      pass = undefined;
      schedule(Math.max(0, tickMs - (performance.now() - start)));
    });
  }

  return {
    open,
    moved(tenantId, nodeIds) {
      if (groupsOf(tenantId).length === 0) return;
      const known = moves.get(tenantId);
      const waiting = known ?? {
        nodeIds: new Set<string>(),
        timer: setTimeout(() => tellMoved(tenantId), MERGE_MS),
      };
      moves.set(tenantId, waiting);
      for (const nodeId of nodeIds()) waiting.nodeIds.add(nodeId);
    },
    runOnce,
    start() {
      running = true;
      schedule(tickMs);
    },
    async stop() {
      running = false;
      clearTimeout(timer);
      for (const { timer: merging } of moves.values()) clearTimeout(merging);
      moves.clear();
      await pass;
    },
    get size() {
      return [...groups.values()].reduce((sum, { boards }) => sum + boards.size, 0);
    },
  };
}

/** Equal for filters that select the same by the same words. */
function keyOf(tenantId: string, filter: LeaseFilter): string {
  const { personId, agentId, session, project, nodeIds, reserved, expiringWithinMs } = filter;
  return JSON.stringify([tenantId, personId, agentId, session, project, nodeIds, reserved, expiringWithinMs]);
}
