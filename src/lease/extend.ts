import type { Extend } from './command.ts';
import { isRefusal } from './guard.ts';
import { rebind, resume } from './keep.ts';
import { withEnd } from './lease.ts';
import { type Decision, type Held, refuse } from './outcome.ts';
import type { Policy } from './policy.ts';
import { become, keepOrReclaim } from './reclaim.ts';
import { leaseView, type Refusal } from './refusal.ts';
import type { NodeState } from './state.ts';

/**
 * Extend: moves the end of the caller's lease by `ms`, at most to `claimTtlMaxMs` from now. Never shortens a lease,
 * never lets one outlive the ceiling. A reservation is resumed and a free node reclaimed first.
 */
export function extend(state: NodeState, command: Extend, now: number, policy: Policy): Decision<Held | Refusal> {
  const binding = { caller: command.caller, session: command.session, dispatch: null };
  const taken = keepOrReclaim(state, command, now, policy, (own) =>
    own.reserved ? resume(own, binding, now, policy.claimTtlMs) : rebind(own, binding),
  );
  if (isRefusal(taken)) return refuse(state, taken);

  const wanted = taken.hold.expiresAt + Math.ceil(command.ms);
  const ceiling = now + policy.claimTtlMaxMs;
  const expiresAt = Math.max(taken.hold.expiresAt, Math.min(wanted, ceiling));
  const moved = expiresAt > taken.hold.expiresAt;
  const { hold, next, events } = moved ? become(taken, withEnd(taken.hold, expiresAt), 'EXTENDED') : taken;
  return {
    outcome: {
      kind: 'held',
      status: 'extended',
      lease: leaseView(command.nodeId, next.lease.fence, hold, now),
      edge: null,
      reclaimed: taken.reclaimed,
      cappedToMs: wanted > ceiling ? policy.claimTtlMaxMs : null,
      graceWindowMs: null,
    },
    next,
    events,
  };
}
