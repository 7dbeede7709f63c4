import type { PrismaClient } from '../generated/prisma/client.ts';
import type { LeaseView } from '../lease/refusal.ts';
import { type LeaseFilter, underFilter } from './lease-list.ts';
import { CLOCK, LEASE_COLUMNS, type LeaseRow, toView } from './leases.ts';

/**
 * Leases as they stand in their rows, also those that have lapsed and are not ended yet: for who follows leases, and
 * takes one for ended only when it is.
 */
export interface StandingLeases {
  /** The latest seq of the tenant at the moment of this read. */
  readonly seq: bigint;
  /** Those of the nodes asked for that pass the filter. */
  readonly ofNode: ReadonlyMap<string, StandingLease>;
}

export interface StandingLease {
  readonly lease: LeaseView;
  readonly inForce: boolean;
}

interface Row extends LeaseRow {
  seq: bigint;
  in_force: boolean;
}

export async function readStandingLeases(
  reads: PrismaClient,
  tenantId: string,
  filter: LeaseFilter,
  nodeIds: readonly string[],
): Promise<StandingLeases> {
  const selected = underFilter('l.tenant_id = $1 AND l.holder IS NOT NULL', tenantId, filter);
  selected.add('l.node_id = ANY (?::text[])', nodeIds);
  const rows = await reads.$queryRawUnsafe<(Row | (Row & { node_id: null }))[]>(
    `SELECT t.seq, ${LEASE_COLUMNS}, l.expires_at > clock.now AS in_force
     FROM ${CLOCK} CROSS JOIN tenant t LEFT JOIN lease l ON ${selected.where}
     WHERE t.tenant_id = $1`,
    ...selected.parameters,
  );
  const standing = rows.filter((row) => row.node_id !== null);
  return {
    seq: rows[0]?.seq ?? 0n,
    ofNode: new Map(standing.map((row) => [row.node_id, { lease: toView(row), inForce: row.in_force }])),
  };
}
