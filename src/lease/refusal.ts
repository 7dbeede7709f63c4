import type { Hold } from './lease.ts';

/**
 * Refusals are values: a refusal is an answer, it changes nothing and rolls nothing back. The codes are the domain's;
 * what they are called on the wire is decided at the rim.
 */
export const REFUSAL_CODES = [
  'conflict',
  'lease_lost',
  'not_found',
  'not_ready',
  'invalid_node',
  'invalid_input',
  'transition_denied',
  'limit_reached',
] as const;

export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** A lease as it is shown: to its holder on success, to others as the reason of a refusal. */
export interface LeaseView {
  readonly nodeId: string;
  readonly fence: bigint;
  readonly holder: string;
  readonly agent: string | null;
  readonly session: string | null;
  readonly claimedAt: number;
  readonly expiresAt: number;
  /** Time left at the clock of the decision, ms. */
  readonly expiresInMs: number;
  readonly reserved: boolean;
}

export interface Refusal {
  readonly kind: 'refused';
  readonly code: RefusalCode;
  /** Says what is held by whom until when, and what the caller can do. */
  readonly message: string;
  /** The lease in force that stands in the way; null where none does. */
  readonly holder: LeaseView | null;
  /** The offending field, with `invalid_input`. */
  readonly field?: string;
  /** The limit, with `limit_reached`. */
  readonly limit?: number;
}

export function leaseView(nodeId: string, fence: bigint, hold: Hold, now: number): LeaseView {
  const { holder, agent, session, claimedAt, expiresAt, reserved } = hold;
  return { nodeId, fence, holder, agent, session, claimedAt, expiresAt, expiresInMs: expiresAt - now, reserved };
}

function refusal(code: RefusalCode, message: string, holder: LeaseView | null = null): Refusal {
  return { kind: 'refused', code, message, holder };
}

const at = (ms: number): string => new Date(ms).toISOString();

function isHeld(lease: LeaseView): string {
  return `${lease.nodeId} is ${lease.reserved ? 'reserved for' : 'held by'} ${lease.holder} until ${at(lease.expiresAt)}`;
}

export function notFound(nodeId: string): Refusal {
  return refusal('not_found', `There is no node ${nodeId}. Check the id, or create the node first.`);
}

export function notLeasable(nodeId: string, type: string): Refusal {
  return refusal(
    'invalid_node',
    `${nodeId} is a ${type}, and a ${type} carries no lease. Claim the work that belongs to it.`,
  );
}

/** Another person's lease or reservation is in force. */
export function heldByAnother(code: 'conflict' | 'lease_lost', lease: LeaseView): Refusal {
  return refusal(code, `${isHeld(lease)}. Wait for that moment, ask them to release it, or take other work.`, lease);
}

/** The caller's fence is no longer that of the lease in force. */
export function staleFence(nodeId: string, fence: bigint, current: LeaseView | null): Refusal {
  const now = current === null ? `${nodeId} is held by nobody` : `${isHeld(current)} under fence ${current.fence}`;
  return refusal(
    'lease_lost',
    `The lease of ${nodeId} with fence ${fence} is no longer in force: ${now}. Stop that run, and claim again to go on.`,
    current,
  );
}

/** A heartbeat with a fence never undoes a reservation. */
export function parked(lease: LeaseView): Refusal {
  return refusal(
    'lease_lost',
    `${isHeld(lease)}: a reservation, which a call with a fence does not undo. Claim the node to resume it.`,
    lease,
  );
}

/** The edge that says who is at work can't be taken away under their lease. */
export function assignedToHolder(lease: LeaseView): Refusal {
  return refusal(
    'conflict',
    `${isHeld(lease)}, and its assigned edge goes with that lease. Wait for its end, ask them to release it, or break it.`,
    lease,
  );
}

/** Another launch of the same person holds the node. */
export function otherDispatch(lease: LeaseView): Refusal {
  return refusal(
    'conflict',
    `${isHeld(lease)}, by another launch under a different dispatch. Leave it to that launch, or send force to replace it.`,
    lease,
  );
}

export function notReady(nodeId: string, status: string): Refusal {
  return refusal(
    'not_ready',
    `${nodeId} is ${status}, so it can't be taken. Set an active status first if there is more to do.`,
  );
}

export function limitReached(nodeId: string, person: string, held: number, limit: number): Refusal {
  return {
    ...refusal(
      'limit_reached',
      `${person} holds ${held} leases, and the limit is ${limit}, so ${nodeId} was not taken. Release some first.`,
    ),
    limit,
  };
}

export function invalidInput(field: string, message: string): Refusal {
  return { ...refusal('invalid_input', message), field };
}

export function transitionDenied(
  nodeId: string,
  type: string,
  status: string,
  words: readonly string[] | null,
): Refusal {
  const allowed = words === null ? 'small letters, digits and dashes' : words.join(', ');
  return refusal(
    'transition_denied',
    `${nodeId} is a ${type}, and ${JSON.stringify(status)} is no status of one. Use: ${allowed}.`,
  );
}
