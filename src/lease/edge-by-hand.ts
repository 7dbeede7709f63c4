import type { AddEdge, RemoveEdge } from './command.ts';
import { type EventKind, nodeEvent } from './event.ts';
import { holdInForce } from './lease.ts';
import { type Decision, type EdgeSet, refuse } from './outcome.ts';
import { assignedToHolder, leaseView, notFound, type Refusal } from './refusal.ts';
import { hasEdge, type NodeState, type WorkNode, withEdge, withoutEdge } from './state.ts';

/** Edges by hand: afterwards the edge is there, or is not, however often it is called. Leases are never touched. */

export function addEdge(state: NodeState, command: AddEdge): Decision<EdgeSet | Refusal> {
  const { node } = state;
  if (node === null) return refuse(state, notFound(command.nodeId));
  if (hasEdge(state, command.edge)) return skipped(state, node);
  return changed(withEdge(state, command.edge), node, command, 'EDGE_ADDED');
}

/** The assigned edge of a lease in force says who is at work; it goes when the lease goes, by release or break. */
export function removeEdge(state: NodeState, command: RemoveEdge, now: number): Decision<EdgeSet | Refusal> {
  const { node, lease } = state;
  const { nodeId, edge } = command;
  if (node === null) return refuse(state, notFound(nodeId));
  const hold = holdInForce(lease, now);
  if (hold !== null && edge.type === 'assigned' && edge.to === hold.holder) {
    return refuse(state, assignedToHolder(leaseView(nodeId, lease.fence, hold, now)));
  }
  if (!hasEdge(state, edge)) return skipped(state, node);
  return changed(withoutEdge(state, edge), node, command, 'EDGE_REMOVED');
}

function skipped(state: NodeState, { revision }: WorkNode): Decision<EdgeSet> {
  return { outcome: { kind: 'edge-set', status: 'skipped', revision }, next: state, events: [] };
}

function changed(next: NodeState, node: WorkNode, command: AddEdge | RemoveEdge, kind: EventKind): Decision<EdgeSet> {
  const revision = node.revision + 1n;
  const place = { nodeId: command.nodeId, project: node.project, actor: command.caller };
  return {
    outcome: { kind: 'edge-set', status: 'updated', revision },
    next: { ...next, node: { ...node, revision } },
    events: [nodeEvent(kind, place, null)],
  };
}
