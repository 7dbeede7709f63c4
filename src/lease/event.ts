import type { Caller } from './command.ts';
import type { Hold } from './lease.ts';

/**
 * Durable events. Each grant has one beginning (CLAIMED, RECLAIMED) and one ending (RELEASED, EXPIRED, SUPERSEDED,
 * BROKEN) with its fence. Heartbeats that only move the horizon are not events.
 */
export const EVENT_KINDS = [
  'CLAIMED',
  'RECLAIMED',
  'RELEASED',
  'EXPIRED',
  'SUPERSEDED',
  'BROKEN',
  'EXTENDED',
  'RESERVED',
  'RESUMED',
  'REBOUND',
  'STATUS_CHANGED',
  'NODE_CREATED',
  'EDGE_ADDED',
  'EDGE_REMOVED',
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

/** An event before it has a place in the tenant's history. */
export interface LeaseEvent {
  readonly kind: EventKind;
  readonly nodeId: string;
  readonly project: string | null;
  /** Null, with fence and end, where no lease is meant. */
  readonly holder: string | null;
  readonly session: string | null;
  readonly fence: bigint | null;
  /** Who called; null for the sweep. */
  readonly actor: Caller | null;
  readonly expiresAt: number | null;
  readonly reserved: boolean;
  readonly status: string | null;
  /** Why an admin ended the lease, where one said so. */
  readonly reason?: string | null;
  readonly cause?: EndingCause | null;
}

/**
 * How an ending came about, where its kind does not say: a release `named` the lease it ended, so whoever holds it
 * knows; a lapse was found by a grant to another person, who has `taken` the node.
 */
export type EndingCause = 'named' | 'taken';

/** What an event is about, apart from the lease it names. */
export interface EventPlace {
  readonly nodeId: string;
  readonly project: string | null;
  readonly actor: Caller | null;
}

/** An event of a lease: a beginning, an ending or a change between. */
export function leaseEvent(kind: EventKind, place: EventPlace, fence: bigint, hold: Hold): LeaseEvent {
  return {
    kind,
    ...place,
    holder: hold.holder,
    session: hold.session,
    fence,
    expiresAt: hold.expiresAt,
    reserved: hold.reserved,
    status: null,
  };
}

/** An event of the node itself, where no lease is meant. */
export function nodeEvent(kind: EventKind, place: EventPlace, status: string | null): LeaseEvent {
  return { kind, ...place, holder: null, session: null, fence: null, expiresAt: null, reserved: false, status };
}
