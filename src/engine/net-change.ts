import type { Edge, NodeFields } from '../lease/command.ts';
import type { Lease } from '../lease/lease.ts';
import type { NewPerson, NodeState } from '../lease/state.ts';

/**
 * What a batch writes: the difference between the states before it and after it, so that each key is written at most
 * once and nothing is both inserted and deleted. One statement runs its parts in no order, so anything else would leave
 * it to chance which of two writes stays.
 */
export interface NetChange {
  readonly leases: readonly LeaseChange[];
  readonly edgesAdded: readonly Edge[];
  readonly edgesRemoved: readonly Edge[];
  readonly nodesMade: readonly NodeChange[];
  readonly nodesPut: readonly NodeChange[];
  readonly statuses: readonly StatusChange[];
  readonly people: readonly NewPerson[];
}

export interface LeaseChange {
  readonly nodeId: string;
  /** The fence that must still stand in the row. */
  readonly expected: bigint;
  readonly lease: Lease;
}

export interface NodeChange {
  readonly nodeId: string;
  readonly fields: Required<NodeFields>;
  readonly revision: bigint;
}

export interface StatusChange {
  readonly nodeId: string;
  readonly status: string | null;
  readonly revision: bigint;
}

/** What one command did to its node. */
export interface Step {
  readonly nodeId: string;
  readonly before: NodeState;
  readonly after: NodeState;
}

/** @param steps in the order in which they were decided */
export function netChange(steps: readonly Step[]): NetChange {
  const change = {
    leases: [] as LeaseChange[],
    nodesMade: [] as NodeChange[],
    nodesPut: [] as NodeChange[],
    statuses: [] as StatusChange[],
    people: [] as NewPerson[],
  };
  for (const { nodeId, before, after } of wholeWays(steps)) {
    if (!sameLease(before.lease, after.lease)) {
      change.leases.push({ nodeId, expected: before.lease.fence, lease: after.lease });
    }
    if (after.person !== null) change.people.push(after.person);
    addNode(change, nodeId, before, after);
  }
  return { ...change, ...netEdges(steps) };
}

/** One step for each node: from where it stood at the first to where it stands after the last. */
function wholeWays(steps: readonly Step[]): Iterable<Step> {
  const ways = new Map<string, Step>();
  for (const step of steps) {
    const way = ways.get(step.nodeId);
    ways.set(step.nodeId, way === undefined ? step : { ...way, after: step.after });
  }
  return ways.values();
}

/** By edge and not by node, since two nodes may name the same edge. What was added and removed again is left out. */
function netEdges(steps: readonly Step[]): Pick<NetChange, 'edgesAdded' | 'edgesRemoved'> {
  const added = new Map<string, Edge>();
  const removed = new Map<string, Edge>();
  for (const { before, after } of steps) {
    if (before.edges === after.edges) continue;
    for (const [key, edge] of after.edges) if (!before.edges.has(key) && !removed.delete(key)) added.set(key, edge);
    for (const [key, edge] of before.edges) if (!after.edges.has(key) && !added.delete(key)) removed.set(key, edge);
  }
  return { edgesAdded: [...added.values()], edgesRemoved: [...removed.values()] };
}

function addNode(
  change: { nodesMade: NodeChange[]; nodesPut: NodeChange[]; statuses: StatusChange[] },
  nodeId: string,
  before: NodeState,
  after: NodeState,
): void {
  if (after.node === null || after.node.revision === before.node?.revision) return;
  const { fields, status, revision } = after.node;
  if (before.node === null && fields !== null) change.nodesMade.push({ nodeId, fields, revision });
  else if (fields !== null) change.nodesPut.push({ nodeId, fields, revision });
  else change.statuses.push({ nodeId, status, revision });
}

function sameLease(a: Lease, b: Lease): boolean {
  if (a === b) return true;
  if (a.fence !== b.fence) return false;
  if (a.hold === null || b.hold === null) return a.hold === b.hold;
  const [x, y] = [a.hold, b.hold];
  return (
    x.holder === y.holder &&
    x.agent === y.agent &&
    x.session === y.session &&
    x.dispatch === y.dispatch &&
    x.claimedAt === y.claimedAt &&
    x.expiresAt === y.expiresAt &&
    x.sweepAt === y.sweepAt &&
    x.reserved === y.reserved
  );
}

/** Whether there is anything to write besides events. */
export function isEmpty(change: NetChange): boolean {
  return Object.values(change).every((rows) => rows.length === 0);
}
