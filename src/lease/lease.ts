/**
 * What a lease is.
 *
 * A lease is the ephemeral hold of one person on one work node. It is in force iff now < expiresAt; at the very
 * instant of its end it has lapsed. That one rule serves every verb, list, subscription and sweep. A lapsed lease may
 * still stand in its row until something settles it; nobody is bound by it any more.
 *
 * A lease does not stop its former holder from working on: it orders claims, and its fence lets others tell an old
 * holder's writes from the new one's.
 */

/** A hold as it is stored. Instants are epoch milliseconds of database time. */
export interface Hold {
  /** Always a person; an agent acts for its owner. */
  readonly holder: string;
  /** The agent of the last successful verb; null for the person's own token. */
  readonly agent: string | null;
  /** The run this hold is bound to; null when any session of the holder may renew. */
  readonly session: string | null;
  /** The nonce of the agent launch that took it; keeps two launches of one owner apart. */
  readonly dispatch: string | null;
  readonly claimedAt: number;
  readonly expiresAt: number;
  /** Never after expiresAt: when the sweep looks next. Heartbeats leave it, so that they stay in-place updates. */
  readonly sweepAt: number;
  /** A reservation: parked for its owner until the grace window ends. Counts as in force. */
  readonly reserved: boolean;
}

/** The lease row of a node. Its fence rises by every grant and never repeats, also when nobody holds the node. */
export interface Lease {
  readonly fence: bigint;
  readonly hold: Hold | null;
}

/** The lease of a node nobody ever held. */
export const NEVER_HELD: Lease = { fence: 0n, hold: null };

/** Whether an end still lies ahead. Equal is lapsed. */
export function isInForce(expiresAt: number, now: number): boolean {
  return now < expiresAt;
}

/** The hold that binds others at `now`, or null when the node is free or its lease has lapsed. */
export function holdInForce(lease: Lease, now: number): Hold | null {
  return lease.hold !== null && isInForce(lease.hold.expiresAt, now) ? lease.hold : null;
}

/** The same hold with another end. The sweep may look early, never late. */
export function withEnd(hold: Hold, expiresAt: number): Hold {
  return { ...hold, expiresAt, sweepAt: Math.min(hold.sweepAt, expiresAt) };
}

/**
 * When the next heartbeat is wanted: a third to a half of the time left.
 * @param leftMs time left in the lease
 * @param spread 0 to 1, the caller's dice, so that holders who claimed together do not renew together
 */
export function renewAfterMs(leftMs: number, spread: number): number {
  return Math.min(Math.ceil(leftMs * (1 / 3 + spread / 6)), Math.floor(leftMs / 2));
}
