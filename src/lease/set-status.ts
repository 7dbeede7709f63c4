import { claim } from './claim.ts';
import type { SetStatus } from './command.ts';
import { nodeEvent } from './event.ts';
import { holdInForce } from './lease.ts';
import { DEFAULT_STATUS, isActive, isWorkType, mayTakeStatus, statusVocabulary } from './node-status.ts';
import { type Decision, refuse, type StatusSet } from './outcome.ts';
import type { Policy } from './policy.ts';
import { notFound, type Refusal, transitionDenied } from './refusal.ts';
import type { NodeState } from './state.ts';

/**
 * Set status: anyone in the tenant may, also on a held node. An active status claims the node for the caller with the
 * same lease as claim; a refused claim leaves the status change standing. Every other status leaves lease and edge.
 */
export function setStatus(
  state: NodeState,
  command: SetStatus,
  now: number,
  policy: Policy,
): Decision<StatusSet | Refusal> {
  const { node } = state;
  const { nodeId, caller, status } = command;
  if (node === null) return refuse(state, notFound(nodeId));
  if (!mayTakeStatus(node.type, status)) {
    return refuse(state, transitionDenied(nodeId, node.type, status, statusVocabulary(node.type)));
  }
  const changed = status !== (node.status ?? DEFAULT_STATUS);
  const revision = changed ? node.revision + 1n : node.revision;
  const place = { nodeId, project: node.project, actor: caller };
  const events = changed ? [nodeEvent('STATUS_CHANGED', place, status)] : [];
  const fields = node.fields === null ? null : { ...node.fields, status };
  const next = changed ? { ...state, node: { ...node, status, revision, fields } } : state;

  const outcome = { kind: 'status-set', status, revision, warnings: warnings(state, command, now) } as const;
  if (!isActive(status) || !isWorkType(node.type)) return { outcome: { ...outcome, claim: null }, next, events };
  const claimed = claim(
    next,
    { verb: 'claim', nodeId, caller, session: null, dispatch: null, force: false },
    now,
    policy,
  );
  return {
    outcome: { ...outcome, claim: claimed.outcome },
    next: claimed.next,
    events: [...events, ...claimed.events],
  };
}

/** What the caller should know: someone else is at work here. */
function warnings(state: NodeState, command: SetStatus, now: number): readonly string[] {
  const hold = holdInForce(state.lease, now);
  if (hold === null || hold.holder === command.caller.person) return [];
  return [`${command.nodeId} is held by ${hold.holder} until ${new Date(hold.expiresAt).toISOString()}.`];
}
