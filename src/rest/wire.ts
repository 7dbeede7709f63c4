import { renewAfterMs } from '../lease/lease.ts';
import type { Held, Released } from '../lease/outcome.ts';
import type { LeaseView } from '../lease/refusal.ts';

/** The JSON of the REST door: names and forms as the reference page has them. */
export interface LeaseJson {
  node_id: string;
  by: string;
  by_name: string;
  agent?: string;
  session: string | null;
  claimed_at: string;
  /** Epoch ms. */
  expires: number;
  expires_at: string;
  reserved?: true;
  fence: string;
}

/** The names of people, by id; a holder without one is shown by id. */
export type Names = ReadonlyMap<string, string>;

export function leaseJson(lease: LeaseView, names: Names): LeaseJson {
  return {
    node_id: lease.nodeId,
    by: lease.holder,
    by_name: names.get(lease.holder) ?? lease.holder,
    ...(lease.agent !== null && { agent: lease.agent }),
    session: lease.session,
    claimed_at: new Date(lease.claimedAt).toISOString(),
    expires: lease.expiresAt,
    expires_at: new Date(lease.expiresAt).toISOString(),
    ...(lease.reserved && { reserved: true as const }),
    fence: String(lease.fence),
  };
}

/** The answer of claim, renew, extend and reserve. */
export function heldJson(held: Held, names: Names): Record<string, unknown> {
  const { lease, edge, reclaimed, cappedToMs, graceWindowMs } = held;
  return {
    ok: true,
    status: held.status,
    lease: leaseJson(lease, names),
    expires_in_ms: lease.expiresInMs,
    ...renewalJson(lease),
    ...(edge !== null && { edge }),
    ...(reclaimed && { reclaimed }),
    ...(cappedToMs !== null && { capped_to_max: true, claim_ttl_max_ms: cappedToMs }),
    ...(graceWindowMs !== null && { grace_window_ms: graceWindowMs }),
  };
}

/** When the server wants the next heartbeat; nothing for a reservation, which wants none. */
export function renewalJson(lease: LeaseView): { renew_after_ms?: number } {
  return lease.reserved ? {} : { renew_after_ms: renewAfterMs(lease.expiresInMs, Math.random()) };
}

export function releasedJson(nodeId: string, { edge }: Released): Record<string, unknown> {
  return { ok: true, status: 'released', node_id: nodeId, edge };
}
