import type { PrismaClient } from '../generated/prisma/client.ts';
import { type EventFilter, type EventRead, listEvents, readEventBounds } from '../read/lease-events.ts';
import { passes } from './event-filter.ts';
import { createMailbox, type Mailbox } from './mailbox.ts';
import type { Relay } from './relay.ts';

/**
 * Follows a tenant's history from a cursor on: what is kept is replayed by reading pages, then the live tail goes on
 * where the pages ended. A replay queues nothing, and holds no snapshot of the database open between its pages.
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
  return closable(messages(parts, tenantId, after ?? bounds.latestSeq, after === null, filter, mailbox), () =>
    mailbox.close(),
  );
}

async function* messages(
  { reads, relay, quietMs = QUIET_MS }: FollowParts,
  tenantId: string,
  from: bigint,
  live: boolean,
  filter: EventFilter,
  mailbox: Mailbox<{ readonly event: EventRead }>,
): AsyncGenerator<Followed> {
  let at = from;
  if (live) yield { kind: 'cursor', seq: at };
  const deliver = (event: EventRead | 'lost') => {
    if (event === 'lost') mailbox.drop();
    else if (passes(event, filter)) mailbox.push({ event });
  };
  let leave: (() => void) | null = null;
  while (leave === null) {
    const page = await listEvents(reads, tenantId, at, filter, PAGE);
    if (page.gap) {
      yield { kind: 'gap', oldestSeq: page.oldestSeq, latestSeq: page.latestSeq };
      at = page.oldestSeq - 1n;
    }
    for (const event of page.events) {
      yield { kind: 'event', event };
      at = event.seq;
    }
    if (page.hasMore) continue;
    // All up to the latest of the page was read, also where the filter let nothing through.
    if (page.latestSeq > at) at = page.latestSeq;
    leave = relay.join(tenantId, at, deliver);
  }
  try {
    for (;;) {
      const item = await mailbox.take(quietMs);
      if (item === 'closed') return;
      if (item === 'slow') {
        yield { kind: 'slow', lastSeq: at };
        return;
      }
      if (item === 'idle') {
        at = relay.headOf(tenantId) ?? at;
        yield { kind: 'cursor', seq: at };
      } else {
        at = item.event.seq;
        yield { kind: 'event', event: item.event };
      }
    }
  } finally {
    leave();
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
