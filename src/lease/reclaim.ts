import type { Extend, Renew, Reserve } from './command.ts';
import { type EventPlace, type LeaseEvent, leaseEvent } from './event.ts';
import { grant } from './grant.ts';
import { clear, isRefusal, refuseFence, refuseGrant } from './guard.ts';
import type { Kept } from './keep.ts';
import type { Hold } from './lease.ts';
import type { Policy } from './policy.ts';
import type { Refusal } from './refusal.ts';
import type { NodeState } from './state.ts';

/** The caller's lease, kept or taken back, before the verb does the rest. */
export interface Taken {
  readonly hold: Hold;
  readonly next: NodeState;
  readonly events: readonly LeaseEvent[];
  readonly reclaimed: boolean;
  readonly place: EventPlace;
}

/**
 * What renew, extend and reserve share: an own lease in force is kept as `keep` says, a free node is reclaimed (a real
 * grant, edge and new fence included), and the one refusal of a leasable open node is another's lease. With a fence
 * nothing is ever reclaimed.
 */
export function keepOrReclaim(
  state: NodeState,
  command: Renew | Extend | Reserve,
  now: number,
  policy: Policy,
  keep: (own: Hold) => Kept,
): Taken | Refusal {
  const cleared = clear(state, command, now, 'lease_lost');
  if (isRefusal(cleared)) return cleared;
  const { node, own } = cleared;
  const stale = refuseFence(state, command, own, now, command.verb === 'reserve' ? 'counts' : 'is parked');
  if (stale !== null) return stale;
  const place = { nodeId: command.nodeId, project: node.project, actor: command.caller };

  if (own === null) {
    const refused = refuseGrant(state, command, node, policy);
    if (refused !== null) return refused;
    const terms = { caller: command.caller, session: command.session, dispatch: null, ttlMs: policy.claimTtlMs };
    return { ...grant(state, { kind: 'RECLAIMED', ...terms }, now, place), reclaimed: true, place };
  }
  const { hold, event } = keep(own);
  return {
    hold,
    next: { ...state, lease: { fence: state.lease.fence, hold } },
    events: event === null ? [] : [leaseEvent(event, place, state.lease.fence, hold)],
    reclaimed: false,
    place,
  };
}

/** The taken lease with another hold, and the event that says so. */
export function become(taken: Taken, hold: Hold, kind: 'EXTENDED' | 'RESERVED'): Taken {
  const { fence } = taken.next.lease;
  return {
    ...taken,
    hold,
    next: { ...taken.next, lease: { fence, hold } },
    events: [...taken.events, leaseEvent(kind, taken.place, fence, hold)],
  };
}
