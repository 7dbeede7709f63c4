import type { PrismaClient } from '../generated/prisma/client.ts';
import type { LeaseView } from '../lease/refusal.ts';

/**
 * Leases in force, by node. The statement reads the clock once; between a verb's clock and its commit a read may show a
 * lapse that then does not happen.
 */
export interface LeaseRow {
  node_id: string;
  fence: string;
  holder: string;
  agent: string | null;
  session: string | null;
  claimed_at: bigint;
  expires_at: bigint;
  reserved: boolean;
  now: bigint;
}

/** The columns of a lease row, beside the clock. */
export const LEASE_COLUMNS = `l.node_id, l.fence::text AS fence, l.holder, l.agent, l.session,
  holdfast_ms(l.claimed_at) AS claimed_at, holdfast_ms(l.expires_at) AS expires_at, l.reserved, holdfast_ms(clock.now) AS now`;

/** The clock, read once for the statement. */
export const CLOCK = '(SELECT holdfast_now() AS now OFFSET 0) clock';

const BY_NODE = `
SELECT ${LEASE_COLUMNS}
FROM ${CLOCK}, lease l
WHERE l.tenant_id = $1 AND l.node_id = ANY ($2::text[]) AND l.holder IS NOT NULL AND l.expires_at > clock.now`;

/** The leases in force of these nodes. */
export async function readLeases(
  reads: PrismaClient,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LeaseView>> {
  const rows = await reads.$queryRawUnsafe<LeaseRow[]>(BY_NODE, tenantId, ids);
  return new Map(rows.map((row) => [row.node_id, toView(row)]));
}

export function toView(row: LeaseRow): LeaseView {
  const expiresAt = Number(row.expires_at);
  return {
    nodeId: row.node_id,
    fence: BigInt(row.fence),
    holder: row.holder,
    agent: row.agent,
    session: row.session,
    claimedAt: Number(row.claimed_at),
    expiresAt,
    expiresInMs: expiresAt - Number(row.now),
    reserved: row.reserved,
  };
}
