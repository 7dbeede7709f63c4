import { assignedEdge, type Release } from './command.ts';
import { end, settleLapse } from './grant.ts';
import { clear, isRefusal } from './guard.ts';
import type { Hold } from './lease.ts';
import { type Decision, type Released, refuse } from './outcome.ts';
import { leaseView, type Refusal, staleFence } from './refusal.ts';
import { hasEdge, type NodeState, withoutEdge } from './state.ts';

/**
 * Release: afterwards the caller holds nothing here and the caller's assigned edge is gone, however often it is
 * called. Another's lease is never touched, and neither is a newer lease of the caller's when a fence is given.
 */
export function release(state: NodeState, command: Release, now: number): Decision<Released | Refusal> {
  const cleared = clear(state, command, now, 'conflict');
  if (isRefusal(cleared)) return refuse(state, cleared);
  const { node, own } = cleared;
  const { lease } = state;
  if (own !== null && command.fence !== null && command.fence !== lease.fence) {
    return refuse(state, staleFence(command.nodeId, command.fence, leaseView(command.nodeId, lease.fence, own, now)));
  }
  const place = { nodeId: command.nodeId, project: node.project, actor: command.caller };
  const { next, events } =
    own === null ? settleLapse(state, now, place) : end(state, 'RELEASED', place, names(command, own) ? 'named' : null);
  const edge = assignedEdge(command.nodeId, command.caller.person);
  return {
    outcome: { kind: 'released', edge: hasEdge(state, edge) ? 'removed' : 'skipped', ended: own !== null },
    next: withoutEdge(next, edge),
    events,
  };
}

/** Whether the call said which lease it ends: its fence, or in a drain the session that it is bound to. */
function names({ fence, drain }: Release, own: Hold): boolean {
  return drain === undefined ? fence !== null : drain.session !== null && drain.session === own.session;
}
