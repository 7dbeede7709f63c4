/** Tenant policy: how long leases run, and how many. A project's own durations win over the tenant's. */

export interface Policy {
  /** Length of an ordinary lease, ms. */
  readonly claimTtlMs: number;
  /** How far ahead of now `extend` may move an end, ms. */
  readonly claimTtlMaxMs: number;
  /** Grace window of a reservation, ms. */
  readonly reserveGraceMs: number;
  /** Longest list of ids in one call. */
  readonly bulkMax: number;
  /** Leases in force per person, counted when one is granted. */
  readonly heldMax: number;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export const DEFAULT_POLICY: Policy = {
  claimTtlMs: 45 * MINUTE,
  claimTtlMaxMs: 8 * HOUR,
  reserveGraceMs: 48 * HOUR,
  bulkMax: 1_000,
  heldMax: 10_000,
};

/** One stored row of settings; null leaves a value to the next wider setting. */
export type PolicySettings = { readonly [K in keyof Policy]: Policy[K] | null };

/** The policy that counts: the project's duration, else the tenant's value, else the default. */
export function resolvePolicy(tenant: PolicySettings | undefined, project: PolicySettings | undefined): Policy {
  const ofTenant = <K extends keyof Policy>(key: K): Policy[K] => tenant?.[key] ?? DEFAULT_POLICY[key];
  return {
    claimTtlMs: project?.claimTtlMs ?? ofTenant('claimTtlMs'),
    claimTtlMaxMs: project?.claimTtlMaxMs ?? ofTenant('claimTtlMaxMs'),
    reserveGraceMs: project?.reserveGraceMs ?? ofTenant('reserveGraceMs'),
    bulkMax: ofTenant('bulkMax'),
    heldMax: ofTenant('heldMax'),
  };
}
