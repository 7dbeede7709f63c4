import type { Caller } from './command.ts';
import { type Hold, holdInForce } from './lease.ts';
import { isTerminal, isWorkType } from './node-status.ts';
import type { Policy } from './policy.ts';
import * as refusals from './refusal.ts';
import { leaseView, type Refusal } from './refusal.ts';
import type { NodeState, WorkNode } from './state.ts';

/**
 * What stands in the way of a verb, asked in the contract's order: no such node, a type without lease, another's
 * lease, a stale fence, a nonce (claim's own), a terminal status, the limit. The last two refuse a grant only.
 */

interface Asked {
  readonly nodeId: string;
  readonly caller: Caller;
}

/** A leasable node with the caller's own hold, if that is in force. */
export interface Cleared {
  readonly node: WorkNode;
  /** The caller's lease in force; null when nobody holds the node. */
  readonly own: Hold | null;
}

/** The node, its type, and nobody else's lease in force: the first three questions. */
export function clear(
  state: NodeState,
  asked: Asked,
  now: number,
  whenHeld: 'conflict' | 'lease_lost',
): Cleared | Refusal {
  const { node, lease } = state;
  if (node === null) return refusals.notFound(asked.nodeId);
  if (!isWorkType(node.type)) return refusals.notLeasable(asked.nodeId, node.type);
  const own = holdInForce(lease, now);
  if (own !== null && own.holder !== asked.caller.person) {
    return refusals.heldByAnother(whenHeld, leaseView(asked.nodeId, lease.fence, own, now));
  }
  return { node, own };
}

/** A fence that is given must be that of the lease in force; then it also never undoes a reservation. */
export function refuseFence(
  state: NodeState,
  asked: Asked & { readonly fence: bigint | null },
  own: Hold | null,
  now: number,
  reservation: 'counts' | 'is parked',
): Refusal | null {
  if (asked.fence === null) return null;
  const current = own === null ? null : leaseView(asked.nodeId, state.lease.fence, own, now);
  if (current === null || current.fence !== asked.fence) return refusals.staleFence(asked.nodeId, asked.fence, current);
  return current.reserved && reservation === 'is parked' ? refusals.parked(current) : null;
}

/** A free node is granted only while it is open work and the caller is under the limit. */
export function refuseGrant(state: NodeState, asked: Asked, node: WorkNode, policy: Policy): Refusal | null {
  if (isTerminal(node.status)) return refusals.notReady(asked.nodeId, node.status as string);
  if (state.held !== null && state.held >= policy.heldMax) {
    return refusals.limitReached(asked.nodeId, asked.caller.person, state.held, policy.heldMax);
  }
  return null;
}

export function isRefusal(value: object): value is Refusal {
  return 'kind' in value && value.kind === 'refused';
}
