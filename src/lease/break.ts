import { assignedEdge, type Break } from './command.ts';
import { end, settleLapse } from './grant.ts';
import { holdInForce } from './lease.ts';
import { isWorkType } from './node-status.ts';
import { type Broken, type Decision, refuse } from './outcome.ts';
import { leaseView, notFound, notLeasable, type Refusal } from './refusal.ts';
import { type NodeState, withoutEdge } from './state.ts';

/**
 * Break: an admin ends whatever lease is in force, with its assigned edge. The node is free at once; the former holder
 * is told by BROKEN. A node that nobody holds stays as it is, so it is safe to repeat.
 */
export function breakLease(state: NodeState, command: Break, now: number): Decision<Broken | Refusal> {
  const { node, lease } = state;
  const { nodeId, caller, reason } = command;
  if (node === null) return refuse(state, notFound(nodeId));
  if (!isWorkType(node.type)) return refuse(state, notLeasable(nodeId, node.type));
  const place = { nodeId, project: node.project, actor: caller };
  const hold = holdInForce(lease, now);
  if (hold === null) return { outcome: { kind: 'broken', lease: null }, ...settleLapse(state, now, place) };
  const { next, events } = end(state, 'BROKEN', place);
  return {
    outcome: { kind: 'broken', lease: leaseView(nodeId, lease.fence, hold, now) },
    next: withoutEdge(next, assignedEdge(nodeId, hold.holder)),
    events: events.map((event) => ({ ...event, reason })),
  };
}
