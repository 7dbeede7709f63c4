import type { Edge, NodeFields } from './command.ts';
import type { Lease } from './lease.ts';

/** A node as the rules see it. */
export interface WorkNode {
  readonly type: string;
  readonly status: string | null;
  readonly project: string | null;
  readonly revision: bigint;
  /** All of its fields, read only when a command puts the node. */
  readonly fields: Required<NodeFields> | null;
}

/** A person made along with a node of that type. */
export interface NewPerson {
  readonly personId: string;
  readonly name: string;
  readonly email: string | null;
}

/** All that a decision about one node may look at. */
export interface NodeState {
  /** Null when the tenant has no such node. */
  readonly node: WorkNode | null;
  readonly lease: Lease;
  /** Of the edges that the commands may touch, those that exist, by `edgeKey`. */
  readonly edges: ReadonlyMap<string, Edge>;
  /** Set when a node of type person is made. */
  readonly person: NewPerson | null;
  /** Leases in force of the caller; null when far enough from the limit not to be counted. */
  readonly held: number | null;
}

/** One edge in one string. Ids and types have no space. */
export function edgeKey(edge: Edge): string {
  return `${edge.from} ${edge.type} ${edge.to}`;
}

export function hasEdge(state: NodeState, edge: Edge): boolean {
  return state.edges.has(edgeKey(edge));
}

/** The state with this edge; the same state when it is there already. */
export function withEdge(state: NodeState, edge: Edge): NodeState {
  if (hasEdge(state, edge)) return state;
  return { ...state, edges: new Map(state.edges).set(edgeKey(edge), edge) };
}

/** The state without this edge; the same state when it was not there. */
export function withoutEdge(state: NodeState, edge: Edge): NodeState {
  if (!hasEdge(state, edge)) return state;
  const edges = new Map(state.edges);
  edges.delete(edgeKey(edge));
  return { ...state, edges };
}
