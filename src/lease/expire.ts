import type { Expire } from './command.ts';
import { end } from './grant.ts';
import { isInForce } from './lease.ts';
import type { Decision, Swept } from './outcome.ts';
import type { NodeState } from './state.ts';

/**
 * Expire: the sweep's second look, under the lock. Ends the lease it was sent for if that has lapsed by now; if it was
 * renewed meanwhile, only the next look moves; if it is another lease, nothing happens. The assigned edge stays.
 */
export function expire(state: NodeState, command: Expire, now: number): Decision<Swept> {
  const { fence, hold } = state.lease;
  if (hold === null || fence !== command.fence)
    return { outcome: { kind: 'swept', found: 'gone' }, next: state, events: [] };
  if (isInForce(hold.expiresAt, now)) {
    const next = { ...state, lease: { fence, hold: { ...hold, sweepAt: hold.expiresAt } } };
    return { outcome: { kind: 'swept', found: 'alive' }, next, events: [] };
  }
  const place = { nodeId: command.nodeId, project: state.node?.project ?? null, actor: null };
  return { outcome: { kind: 'swept', found: 'lapsed' }, ...end(state, 'EXPIRED', place) };
}
