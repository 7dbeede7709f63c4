import { assignedEdge, type Caller } from './command.ts';
import { type EndingCause, type EventPlace, type LeaseEvent, leaseEvent } from './event.ts';
import { type Hold, isInForce } from './lease.ts';
import { hasEdge, type NodeState, withEdge } from './state.ts';

/** How leases begin and end: the only places where a fence rises and where a hold goes. */

export interface Change {
  readonly next: NodeState;
  readonly events: readonly LeaseEvent[];
}

/** Ends the lease that stands in the row, by the event named. The edge is left to the caller. */
export function end(
  state: NodeState,
  kind: 'RELEASED' | 'EXPIRED' | 'SUPERSEDED' | 'BROKEN',
  place: EventPlace,
  cause: EndingCause | null = null,
): Change {
  const { fence, hold } = state.lease;
  if (hold === null) return { next: state, events: [] };
  const event = leaseEvent(kind, place, fence, hold);
  return {
    next: { ...state, lease: { fence, hold: null } },
    events: [cause === null ? event : { ...event, cause }],
  };
}

/** Ends a lease that has lapsed, so that each grant has its one ending before anything follows it. */
export function settleLapse(
  state: NodeState,
  now: number,
  place: EventPlace,
  cause: EndingCause | null = null,
): Change {
  const { hold } = state.lease;
  const lapsed = hold !== null && !isInForce(hold.expiresAt, now);
  return lapsed ? end(state, 'EXPIRED', place, cause) : { next: state, events: [] };
}

export interface Terms {
  readonly kind: 'CLAIMED' | 'RECLAIMED';
  readonly caller: Caller;
  readonly session: string | null;
  readonly dispatch: string | null;
  readonly ttlMs: number;
}

/**
 * Grants a node that nobody holds in force: a lapsed lease ends first, the fence rises by one, the assigned edge is
 * written. The lease runs its whole length from `now`.
 */
export function grant(
  state: NodeState,
  terms: Terms,
  now: number,
  place: EventPlace,
): Change & { readonly hold: Hold; readonly edge: 'added' | 'skipped' } {
  const taken = state.lease.hold !== null && state.lease.hold.holder !== terms.caller.person;
  const settled = settleLapse(state, now, place, taken ? 'taken' : null);
  const fence = settled.next.lease.fence + 1n;
  const expiresAt = now + terms.ttlMs;
  const hold: Hold = {
    holder: terms.caller.person,
    agent: terms.caller.agent,
    session: terms.session,
    dispatch: terms.dispatch,
    claimedAt: now,
    expiresAt,
    sweepAt: expiresAt,
    reserved: false,
  };
  const edge = assignedEdge(place.nodeId, terms.caller.person);
  return {
    hold,
    edge: hasEdge(state, edge) ? 'skipped' : 'added',
    next: withEdge({ ...settled.next, lease: { fence, hold } }, edge),
    events: [...settled.events, leaseEvent(terms.kind, place, fence, hold)],
  };
}
