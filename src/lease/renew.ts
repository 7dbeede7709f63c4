import type { Renew } from './command.ts';
import { isRefusal } from './guard.ts';
import { renewOwn } from './keep.ts';
import { type Decision, type Held, refuse } from './outcome.ts';
import type { Policy } from './policy.ts';
import { keepOrReclaim } from './reclaim.ts';
import { leaseView, type Refusal } from './refusal.ts';
import type { NodeState } from './state.ts';

/** Renew: the heartbeat. The lease then runs at least `claimTtlMs` from now, and never ends sooner than before. */
export function renew(state: NodeState, command: Renew, now: number, policy: Policy): Decision<Held | Refusal> {
  const binding = { caller: command.caller, session: command.session, dispatch: null };
  const taken = keepOrReclaim(state, command, now, policy, (own) => renewOwn(own, binding, now, policy.claimTtlMs));
  if (isRefusal(taken)) return refuse(state, taken);
  return {
    outcome: {
      kind: 'held',
      status: 'renewed',
      lease: leaseView(command.nodeId, taken.next.lease.fence, taken.hold, now),
      edge: null,
      reclaimed: taken.reclaimed,
      cappedToMs: null,
      graceWindowMs: null,
    },
    next: taken.next,
    events: taken.events,
  };
}
