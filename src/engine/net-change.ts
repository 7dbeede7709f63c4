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

/** One node's way through the batch. */
export interface Step {
  readonly nodeId: string;
  readonly before: NodeState;
  readonly after: NodeState;
}

/** @param steps one for each node: its state when the batch began and when it ended */
export function netChange(steps: readonly Step[]): NetChange {
  const change = {
    leases: [] as LeaseChange[],
    edgesAdded: [] as Edge[],
    edgesRemoved: [] as Edge[],
    nodesMade: [] as NodeChange[],
    nodesPut: [] as NodeChange[],
    statuses: [] as StatusChange[],
    people: [] as NewPerson[],
  };
  for (const { nodeId, before, after } of steps) {
    if (before === after) continue;
    if (!sameLease(before.lease, after.lease)) {
      change.leases.push({ nodeId, expected: before.lease.fence, lease: after.lease });
    }
    for (const [key, edge] of after.edges) if (!before.edges.has(key)) change.edgesAdded.push(edge);
    for (const [key, edge] of before.edges) if (!after.edges.has(key)) change.edgesRemoved.push(edge);
    if (after.person !== null) change.people.push(after.person);
    addNode(change, nodeId, before, after);
  }
  return change;
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
