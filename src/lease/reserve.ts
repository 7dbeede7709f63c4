import type { Reserve } from './command.ts';
import { isRefusal } from './guard.ts';
import { rebind } from './keep.ts';
import { withEnd } from './lease.ts';
import { type Decision, type Held, refuse } from './outcome.ts';
import type { Policy } from './policy.ts';
import { become, keepOrReclaim } from './reclaim.ts';
import { leaseView, type Refusal } from './refusal.ts';
import type { NodeState } from './state.ts';

/**
 * Reserve: parks the node for its owner for one grace window from now, also when the lease ran longer. The fence and
 * the edge stay; the nonce is cleared, since no launch runs any more. A free node is reclaimed first.
 */
export function reserve(state: NodeState, command: Reserve, now: number, policy: Policy): Decision<Held | Refusal> {
  const binding = { caller: command.caller, session: command.session, dispatch: null };
  // RESERVED below says all that changed, the binding included.
  const taken = keepOrReclaim(state, command, now, policy, (own) => ({ ...rebind(own, binding), event: null }));
  if (isRefusal(taken)) return refuse(state, taken);

  const parked = withEnd({ ...taken.hold, reserved: true, dispatch: null }, now + policy.reserveGraceMs);
  const { hold, next, events } = become(taken, parked, 'RESERVED');
  return {
    outcome: {
      kind: 'held',
      status: 'reserved',
      lease: leaseView(command.nodeId, next.lease.fence, hold, now),
      edge: null,
      reclaimed: taken.reclaimed,
      cappedToMs: null,
      graceWindowMs: policy.reserveGraceMs,
    },
    next,
    events,
  };
}
