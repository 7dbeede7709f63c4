/**
 * The verbs as a caller of either door sees them, in one form, so that what both promise is asserted once. What the
 * doors call things is asserted where it matters, on the answers themselves.
 */
export interface Verbs {
  claim(who: string, nodeId: string, more?: Fields): Promise<Answer>;
  renew(who: string, nodeId: string, more?: Fields): Promise<Answer>;
  extend(who: string, nodeId: string, ms: unknown, more?: Fields): Promise<Answer>;
  reserve(who: string, nodeId: string, more?: Fields): Promise<Answer>;
  release(who: string, nodeId: string, more?: Fields): Promise<Answer>;
  setStatus(who: string, nodeId: string, status: string): Promise<StatusAnswer>;
  claimMany(who: string, ids: readonly string[], more?: Fields): Promise<Batch>;
  renewMany(who: string, ids: readonly string[], more?: Fields): Promise<Batch>;
  /** The heartbeat without ids. */
  renewHeld(who: string, filter?: Fields): Promise<Batch>;
  /** The drain. */
  releaseHeld(who: string, filter?: Fields): Promise<Batch>;
  /** The node as a reader sees it; null for none. */
  read(who: string, nodeId: string): Promise<NodeSeen | null>;
}

export type Fields = Readonly<Record<string, unknown>>;

export interface LeaseSeen {
  readonly nodeId: string;
  readonly by: string;
  readonly byName: string;
  readonly agent: string | null;
  readonly session: string | null;
  readonly claimedAt: number;
  readonly expiresAt: number;
  readonly reserved: boolean;
  readonly fence: string;
}

export interface Answer {
  /** The REST word of what was done; null for a refusal. */
  readonly status: string | null;
  /** The REST word of why it was refused; null for a success. */
  readonly code: string | null;
  readonly message: string | null;
  readonly field: string | null;
  readonly limit: number | null;
  readonly holder: LeaseSeen | null;
  readonly lease: LeaseSeen | null;
  readonly expiresInMs: number | null;
  readonly renewAfterMs: number | null;
  readonly edge: string | null;
  readonly reclaimed: boolean;
  readonly capped: boolean;
  readonly ceilingMs: number | null;
  readonly graceMs: number | null;
}

export interface StatusAnswer {
  readonly status: string | null;
  readonly code: string | null;
  readonly message: string | null;
  readonly revision: string | null;
  readonly warnings: readonly string[] | null;
  /** The claim that came with it: a lease, or why there is none and who stands in the way. */
  readonly claim: { readonly lease: LeaseSeen } | { readonly code: string; readonly holder: string | null } | null;
}

export interface Batch {
  readonly status: string;
  readonly count: number;
  readonly landed: readonly string[];
  /** Nothing where the answer carries no leases. */
  readonly leases: readonly LeaseSeen[];
  readonly failed: readonly { readonly nodeId: string; readonly code: string; readonly holder: LeaseSeen | null }[];
  readonly expiresInMs: number | null;
  readonly reclaimed: readonly string[];
  readonly skipped: { readonly session: number; readonly reserved: number; readonly project: number };
}

export interface NodeSeen {
  readonly revision: string;
  readonly status: string;
  readonly lease: LeaseSeen | null;
  readonly assigned: readonly string[];
}

export function assignedIn(edges: readonly { readonly type: string; readonly to: string }[]): string[] {
  return edges.filter(({ type }) => type === 'assigned').map(({ to }) => to);
}
