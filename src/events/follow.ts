import type { PrismaClient } from '../generated/prisma/client.ts';
import { type EventFilter, type EventRead, listEvents, readEventBounds } from '../read/lease-events.ts';
import { passes } from './event-filter.ts';
import { createMailbox, type Mailbox } from './mailbox.ts';
import type { Relay } from './relay.ts';

/**
 * Follows a tenant's history from a cursor on: what is kept is replayed by reading pages, then the live tail goes on
 * where the pages ended. A replay queues nothing, and holds no snapshot of the database open between its pages.
 *
 * More may happen at once than a queue holds. A follower that still takes its messages then catches up from the table;
 * one that has stopped taking them is told that it is too slow.
 */
export type Followed =
  | { readonly kind: 'event'; readonly event: EventRead }
  | { readonly kind: 'gap'; readonly oldestSeq: bigint; readonly latestSeq: bigint }
  /** Where a quiet follower may resume. */
  | { readonly kind: 'cursor'; readonly seq: bigint }
  /** The last message of one that did not keep up, with the last seq it was handed. */
  | { readonly kind: 'slow'; readonly lastSeq: bigint };

export interface FollowParts {
  readonly reads: PrismaClient;
  readonly relay: Relay;
  /** Events that may wait for one follower. */
  readonly bound?: number;
  /** A cursor is told after this time without a message. */
  readonly quietMs?: number;
}

/** The cursor is beyond the latest event, so nothing is followed. */
export interface CursorAhead {
  readonly latestSeq: bigint;
}

const QUIET_MS = 30_000;
const PAGE = 500;
/** One message that was not taken for this long, while more than the queue holds came behind it, is too slow. */
const STALLED_MS = 1_000;

/**
 * @param after exclusive; null follows live, and tells a cursor first
 */
export async function follow(
  parts: FollowParts,
  tenantId: string,
  after: bigint | null,
  filter: EventFilter,
): Promise<AsyncIterableIterator<Followed> | CursorAhead> {
  const bounds = await readEventBounds(parts.reads, tenantId);
  if (after !== null && after > bounds.latestSeq) return { latestSeq: bounds.latestSeq };
  const mailbox = createMailbox<{ readonly event: EventRead }>(parts.bound);
  const follower: Follower = { ...parts, tenantId, filter, mailbox, at: after ?? bounds.latestSeq };
  return closable(messages(follower, after === null), () => mailbox.close());
}

interface Follower extends FollowParts {
  readonly tenantId: string;
  readonly filter: EventFilter;
  readonly mailbox: Mailbox<{ readonly event: EventRead }>;
  /** All up to here was handed on, or did not pass the filter. */
  at: bigint;
}

async function* messages(follower: Follower, live: boolean): AsyncGenerator<Followed> {
  if (live) yield { kind: 'cursor', seq: follower.at };
  for (let goesOn = true; goesOn; ) {
    const leave = yield* catchUp(follower);
    try {
      goesOn = yield* tail(follower);
    } finally {
      leave();
    }
  }
}

/** Reads pages until it has reached the relay, and joins it. @returns how to leave it */
async function* catchUp(follower: Follower): AsyncGenerator<Followed, () => void> {
  const { reads, relay, tenantId, filter, mailbox } = follower;
  const deliver = (event: EventRead | 'lost') => {
    if (event === 'lost') mailbox.drop();
    else if (passes(event, filter)) mailbox.push({ event });
  };
  for (;;) {
    const page = await listEvents(reads, tenantId, follower.at, filter, PAGE);
    if (page.gap) {
      yield { kind: 'gap', oldestSeq: page.oldestSeq, latestSeq: page.latestSeq };
      follower.at = page.oldestSeq - 1n;
    }
    for (const event of page.events) {
      yield { kind: 'event', event };
      follower.at = event.seq;
    }
    if (page.hasMore) continue;
    // All up to the latest of the page was read, also where the filter let nothing through.
    if (page.latestSeq > follower.at) follower.at = page.latestSeq;
    const leave = relay.join(tenantId, follower.at, deliver);
    if (leave !== null) return leave;
  }
}

/** Hands on what the relay brings. @returns whether it has to catch up; it is over otherwise */
async function* tail(follower: Follower): AsyncGenerator<Followed, boolean> {
  const { relay, tenantId, mailbox, quietMs = QUIET_MS } = follower;
  let heldMs = 0;
  for (;;) {
    const item = await mailbox.take(quietMs);
    if (item === 'closed') return false;
    if (item === 'slow') {
      if (heldMs < STALLED_MS) return true;
      yield { kind: 'slow', lastSeq: follower.at };
      return false;
    }
    if (item === 'idle') {
      follower.at = relay.headOf(tenantId) ?? follower.at;
      yield { kind: 'cursor', seq: follower.at };
    } else if (item.event.seq > follower.at) {
      // What was queued before a catching up was read then.
      follower.at = item.event.seq;
      const handedAt = performance.now();
      yield { kind: 'event', event: item.event };
      heldMs = performance.now() - handedAt;
    }
  }
}

/** An iterator that ends at once when it is returned, also while it waits. */
export function closable<T>(inner: AsyncGenerator<T>, close: () => void): AsyncIterableIterator<T> {
  return {
    next: () => inner.next(),
    async return() {
      close();
      await inner.return(undefined);
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
