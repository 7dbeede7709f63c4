import { assignedEdge, type Claim } from './command.ts';
import { type EventPlace, leaseEvent } from './event.ts';
import { end, grant } from './grant.ts';
import { type Cleared, clear, isRefusal, refuseGrant } from './guard.ts';
import { renewOwn } from './keep.ts';
import type { Hold } from './lease.ts';
import { type Decision, type Held, refuse } from './outcome.ts';
import type { Policy } from './policy.ts';
import { leaseView, otherDispatch, type Refusal } from './refusal.ts';
import { hasEdge, type NodeState, withEdge } from './state.ts';

/**
 * Claim: a free node is granted, an own lease is renewed, an own reservation is resumed. Afterwards the caller holds
 * the node with its assigned edge written, or nothing has changed.
 */
export function claim(state: NodeState, command: Claim, now: number, policy: Policy): Decision<Held | Refusal> {
  const cleared = clear(state, command, now, 'conflict');
  if (isRefusal(cleared)) return refuse(state, cleared);
  const place = { nodeId: command.nodeId, project: cleared.node.project, actor: command.caller };
  if (cleared.own === null) return claimFree(state, command, cleared, now, policy, place);

  const nonceDiffers = differs(command, cleared.own);
  if (nonceDiffers && !command.force) {
    return refuse(state, otherDispatch(leaseView(command.nodeId, state.lease.fence, cleared.own, now)));
  }
  return nonceDiffers
    ? supersede(state, command, now, policy, place)
    : claimOwn(state, command, cleared.own, now, policy, place);
}

/** Two launches of one person: both name a nonce, and not the same. */
function differs(command: Claim, own: Hold): boolean {
  return command.dispatch !== null && own.dispatch !== null && command.dispatch !== own.dispatch;
}

function terms(command: Claim, policy: Policy) {
  const { caller, session, dispatch } = command;
  return { kind: 'CLAIMED', caller, session, dispatch, ttlMs: policy.claimTtlMs } as const;
}

function claimFree(
  state: NodeState,
  command: Claim,
  { node }: Cleared,
  now: number,
  policy: Policy,
  place: EventPlace,
): Decision<Held | Refusal> {
  const refused = refuseGrant(state, command, node, policy);
  if (refused !== null) return refuse(state, refused);
  const { hold, next, events, edge } = grant(state, terms(command, policy), now, place);
  return { outcome: claimed(place, next.lease.fence, hold, now, edge), next, events };
}

/** Replaces the earlier launch: its lease ends by SUPERSEDED, and a new one with a new fence begins. */
function supersede(state: NodeState, command: Claim, now: number, policy: Policy, place: EventPlace): Decision<Held> {
  const ended = end(state, 'SUPERSEDED', place);
  const { hold, next, events, edge } = grant(ended.next, terms(command, policy), now, place);
  return { outcome: claimed(place, next.lease.fence, hold, now, edge), next, events: [...ended.events, ...events] };
}

/** As the heartbeat; writes the edge again if it has gone missing under the lease. */
function claimOwn(
  state: NodeState,
  command: Claim,
  own: Hold,
  now: number,
  policy: Policy,
  place: EventPlace,
): Decision<Held> {
  const { hold, event } = renewOwn(own, command, now, policy.claimTtlMs);
  const { fence } = state.lease;
  const edge = assignedEdge(command.nodeId, command.caller.person);
  return {
    outcome: claimed(place, fence, hold, now, hasEdge(state, edge) ? 'skipped' : 'added'),
    next: withEdge({ ...state, lease: { fence, hold } }, edge),
    events: event === null ? [] : [leaseEvent(event, place, fence, hold)],
  };
}

function claimed(place: EventPlace, fence: bigint, hold: Hold, now: number, edge: 'added' | 'skipped'): Held {
  return {
    kind: 'held',
    status: 'claimed',
    lease: leaseView(place.nodeId, fence, hold, now),
    edge,
    reclaimed: false,
    cappedToMs: null,
    graceWindowMs: null,
  };
}
