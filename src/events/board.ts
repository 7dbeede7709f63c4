import { setTimeout as pause } from 'node:timers/promises';
import { isOutage } from '../db/outage.ts';
import type { LeaseView } from '../lease/refusal.ts';
import type { Page } from '../read/page.ts';
import type { StandingLease } from '../read/standing-leases.ts';
import { createNodeQueue, type Waiting } from './node-queue.ts';

/**
 * One board: the leases in force that pass a filter, first as they are and then as they change.
 *
 * It is registered before its snapshot is read, so whatever commits from then on is looked at again after it: a change
 * of which the snapshot holds a part or nothing is told, one that it holds already is not told twice. The pages of the
 * snapshot are read as the subscriber takes them, and no snapshot of the database is kept open between them.
 *
 * A change is told by reading the lease anew, so a board that falls behind skips what is no longer so. It takes a lease
 * for ended only when its row says so, which the ending event wrote: one that has merely lapsed stays until it is
 * ended, since a verb that came in time may be about to commit.
 */
export type BoardMessage =
  | {
      readonly kind: 'snapshot';
      readonly seq: bigint;
      /** Epoch ms. */
      readonly serverTime: number;
      readonly leases: readonly LeaseView[];
      /** Whether this is the last one. */
      readonly complete: boolean;
    }
  | { readonly kind: 'change'; readonly seq: bigint; readonly nodeId: string; readonly lease: LeaseView | null }
  /** The last message of one that did not keep up, with the last seq it was handed. */
  | { readonly kind: 'slow'; readonly lastSeq: bigint };

export interface BoardParts {
  /** Where the board is registered from: its snapshot holds all up to here. */
  readonly from: bigint;
  /** Nodes that may wait beyond one for each lease that the board shows. */
  readonly bound?: number | undefined;
  page(after: string | null): Promise<Page<LeaseView>>;
  clock(): Promise<number>;
  look(nodeId: string): Promise<Looked>;
  /** The round of looking through all leases that is under way. */
  round(): number;
  /** Called once, however the board ends. */
  onEnd(): void;
}

/** A lease as it stands, null where none passes the filter, with the tenant's latest seq then. */
export interface Looked {
  readonly standing: StandingLease | null;
  readonly seq: bigint;
}

export interface Board {
  readonly messages: AsyncIterableIterator<BoardMessage>;
  /** An event tells of a node. */
  changed(nodeId: string, seq: bigint): void;
  /** Events were forgotten before they could be told. */
  lost(): void;
  /** A lease may have moved without an event. */
  moved(nodeId: string): void;
  /** A lease in force, as a round meets it. */
  met(lease: LeaseView): void;
  /** Looks again at what a round did not meet. */
  roundOver(round: number): void;
  /** Looks again at the leases that end soon or should have ended, the soonest end first. */
  lookAtEnding(withinMs: number, most: number): void;
}

interface Shown {
  readonly lease: LeaseView;
  /** When it ends by the clock of this process; only a hint of when to look. */
  readonly endsAt: number;
  /** The last round that met it. */
  round: number;
}

const MOST_WAITING = 10_000;
const PAGE = 500;
const RETRY_MS = 1_000;

export function createBoard({ bound = MOST_WAITING, ...parts }: BoardParts): Board {
  const shown = new Map<string, Shown>();
  // With one place for each lease that it shows, a board is not ended when all of them end at once.
  const queue = createNodeQueue(() => bound + shown.size);
  let complete = false;
  let ended = false;

  async function* messages(): AsyncGenerator<BoardMessage> {
    yield* snapshot();
    yield* changes();
  }

  async function* snapshot(): AsyncGenerator<BoardMessage> {
    for (let after: string | null = null; !complete; ) {
      const { rows, hasMore } = await parts.page(after);
      const leases = rows.map(({ item }) => item).filter(({ nodeId }) => !shown.has(nodeId));
      for (const lease of leases) show(lease);
      after = rows.at(-1)?.cursor ?? null;
      complete = !hasMore;
      const [first] = leases;
      const serverTime = first === undefined ? await parts.clock() : first.expiresAt - first.expiresInMs;
      yield { kind: 'snapshot', seq: parts.from, serverTime, leases, complete };
    }
  }

  async function* changes(): AsyncGenerator<BoardMessage> {
    let lastSeq = parts.from;
    for (let taken = await queue.take(PAGE); taken !== 'closed'; taken = await queue.take(PAGE)) {
      if (taken === 'slow') {
        yield { kind: 'slow', lastSeq };
        return;
      }
      for (const [{ nodeId, seq }, { standing, seq: latest }] of await lookAtAll(taken)) {
        const lease = changeOf(nodeId, standing);
        if (lease === undefined) continue;
        const told = seq ?? latest;
        if (told > lastSeq) lastSeq = told;
        yield { kind: 'change', seq: lastSeq, nodeId, lease };
      }
    }
  }

  /** A database out of reach is waited for: what has to be looked at is known. */
  async function lookAtAll(taken: readonly Waiting[]): Promise<readonly (readonly [Waiting, Looked])[]> {
    while (!queue.closed.aborted) {
      try {
        return await Promise.all(taken.map(async (each) => [each, await parts.look(each.nodeId)] as const));
      } catch (error) {
        if (!isOutage(error)) throw error;
        await pause(RETRY_MS, undefined, { signal: queue.closed }).catch(() => {});
      }
    }
    return [];
  }

  /** What the board has to tell of a node, and shows from then on; undefined for nothing. */
  function changeOf(nodeId: string, standing: StandingLease | null): LeaseView | null | undefined {
    const before = shown.get(nodeId);
    if (standing === null) return shown.delete(nodeId) ? null : undefined;
    const { lease, inForce } = standing;
    if (!inForce) return undefined;
    show(lease);
    return before !== undefined && isSame(before.lease, lease) ? undefined : lease;
  }

  function show(lease: LeaseView): void {
    shown.set(lease.nodeId, { lease, endsAt: performance.now() + lease.expiresInMs, round: parts.round() });
  }

  function end(): void {
    if (ended) return;
    ended = true;
    queue.close();
    shown.clear();
    parts.onEnd();
  }

  return {
    messages: endingWith(messages(), end),
    changed: queue.add,
    lost: queue.drop,
    moved: queue.addIfRoom,
    met(lease) {
      if (!complete) return;
      const known = shown.get(lease.nodeId);
      if (known !== undefined && isSame(known.lease, lease)) known.round = parts.round();
      else queue.addIfRoom(lease.nodeId);
    },
    roundOver(round) {
      if (!complete) return;
      for (const [nodeId, { round: met }] of shown) if (met < round) queue.addIfRoom(nodeId);
    },
    lookAtEnding(withinMs, most) {
      if (!complete) return;
      const before = performance.now() + withinMs;
      const ending = [...shown.values()].filter(({ endsAt }) => endsAt <= before);
      if (ending.length > most) ending.sort((a, b) => a.endsAt - b.endsAt);
      for (const { lease } of ending.slice(0, most)) queue.addIfRoom(lease.nodeId);
    },
  };
}

/** Whether two states of a lease are shown alike, but for the time left. */
function isSame(a: LeaseView, b: LeaseView): boolean {
  return (
    a.fence === b.fence &&
    a.expiresAt === b.expiresAt &&
    a.agent === b.agent &&
    a.session === b.session &&
    a.reserved === b.reserved &&
    a.holder === b.holder &&
    a.claimedAt === b.claimedAt
  );
}

/** An iterator that calls `end` when it is over, when it fails, and when it is returned, also before it began. */
function endingWith<T>(inner: AsyncGenerator<T>, end: () => void): AsyncIterableIterator<T> {
  return {
    async next() {
      try {
        const item = await inner.next();
        if (item.done) end();
        return item;
      } catch (error) {
        end();
        throw error;
      }
    },
    async return() {
      end();
      await inner.return(undefined);
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
