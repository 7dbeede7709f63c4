import type { PrismaClient } from '../generated/prisma/client.ts';
import type { LeaseView } from '../lease/refusal.ts';
import { type EventRead, readEventBounds } from '../read/lease-events.ts';
import { readLeases } from '../read/leases.ts';
import { type Loss, lossOf } from './event-filter.ts';
import { type CursorAhead, closable, type Followed, type FollowParts, follow } from './follow.ts';

/**
 * Tells a holder of each lease that it lost: every ending that was not its own doing, from the durable history, so that
 * what happened while nobody listened is told too. Agents of one owner are one holder.
 *
 * A holder that misses one works on without a lease, so a cursor that is too old is an error here, never a hole.
 */
export interface Holder {
  readonly tenantId: string;
  readonly person: string;
  /** Only leases bound to exactly this session when they ended; all for null. */
  readonly session: string | null;
}

export interface LostLease {
  readonly event: EventRead;
  readonly reason: Loss;
  /** Who brought it about; null for a lapse. */
  readonly by: string | null;
  /** The lease in force when this is sent; null when nobody holds the node. */
  readonly current: LeaseView | null;
}

/** All but `lost` is the last message. */
export type LostMessage =
  | { readonly kind: 'lost'; readonly lost: LostLease }
  | ({ readonly kind: 'cursor too old' } & CursorTooOld)
  | { readonly kind: 'slow'; readonly lastSeq: bigint }
  /** What is current could not be read. Resuming behind the last notice misses none. */
  | { readonly kind: 'failed'; readonly error: unknown };

/** Events behind the cursor are no longer kept. */
export interface CursorTooOld {
  readonly oldestSeq: bigint;
  readonly latestSeq: bigint;
}

/**
 * @param after exclusive; null tells only what is lost from now on
 * @returns the notices, or why the cursor is none
 */
export async function followLost(
  parts: FollowParts,
  holder: Holder,
  after: bigint | null,
): Promise<AsyncIterableIterator<LostMessage> | CursorAhead | CursorTooOld> {
  if (after !== null) {
    const bounds = await readEventBounds(parts.reads, holder.tenantId);
    if (after < bounds.oldestSeq - 1n) return bounds;
  }
  const filter = { lostBy: holder.person, session: holder.session };
  const followed = await follow(parts, holder.tenantId, after, filter);
  if ('latestSeq' in followed) return followed;
  return closable(notices(parts.reads, holder.tenantId, followed), () => void followed.return?.());
}

async function* notices(
  reads: PrismaClient,
  tenantId: string,
  followed: AsyncIterable<Followed>,
): AsyncGenerator<LostMessage> {
  for await (const message of followed) {
    switch (message.kind) {
      case 'cursor':
        break;
      case 'slow':
        yield message;
        return;
      case 'gap':
        // Pruned while it was read.
        yield { kind: 'cursor too old', oldestSeq: message.oldestSeq, latestSeq: message.latestSeq };
        return;
      case 'event': {
        const told = await tell(reads, tenantId, message.event);
        if (told !== null) yield told;
        if (told?.kind === 'failed') return;
      }
    }
  }
}

async function tell(reads: PrismaClient, tenantId: string, event: EventRead): Promise<LostMessage | null> {
  const reason = lossOf(event);
  if (reason === null) return null;
  try {
    const current = (await readLeases(reads, tenantId, [event.nodeId])).get(event.nodeId) ?? null;
    return { kind: 'lost', lost: { event, reason, by: reason === 'EXPIRED' ? null : event.actorPerson, current } };
  } catch (error) {
    return { kind: 'failed', error };
  }
}
