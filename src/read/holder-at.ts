import type { PrismaClient } from '../generated/prisma/client.ts';
import { isInForce } from '../lease/lease.ts';
import { isId } from '../lease/node-id.ts';

/**
 * Who held a node at a moment, from its history: the holder of the last grant before it, if neither its ending nor its
 * end had come. A lease that was extended, reserved or renewed since runs as far as its row or its ending says.
 */
export interface HolderAt {
  /** Whether the history reaches back that far. */
  readonly known: boolean;
  readonly holder: string | null;
  readonly fence: bigint | null;
  /** When that lease was granted, epoch ms. */
  readonly start: number | null;
}

interface Row {
  oldest: bigint | null;
  holder: string | null;
  fence: bigint | null;
  start: bigint | null;
  ended: bigint | null;
  ending_end: bigint | null;
  row_end: bigint | null;
}

/** The last beginning at or before the moment, its ending, and the end that the lease's row has if it still runs. */
const FIND = `
SELECT (SELECT holdfast_ms(o.at) FROM lease_event o WHERE o.tenant_id = $1 ORDER BY o.seq LIMIT 1) AS oldest,
       b.holder, b.fence, holdfast_ms(b.at) AS start, holdfast_ms(x.at) AS ended,
       holdfast_ms(x.expires_at) AS ending_end, holdfast_ms(l.expires_at) AS row_end
FROM (SELECT 1) one
LEFT JOIN LATERAL (
  SELECT * FROM lease_event b
  WHERE b.tenant_id = $1 AND b.node_id = $2 AND b.kind IN ('CLAIMED', 'RECLAIMED') AND b.at <= holdfast_at($3::bigint)
  ORDER BY b.seq DESC LIMIT 1) b ON true
LEFT JOIN LATERAL (
  SELECT * FROM lease_event x
  WHERE x.tenant_id = $1 AND x.node_id = $2 AND x.fence = b.fence
    AND x.kind IN ('RELEASED', 'EXPIRED', 'SUPERSEDED', 'BROKEN')
  LIMIT 1) x ON true
LEFT JOIN lease l ON l.tenant_id = $1 AND l.node_id = $2 AND l.fence = b.fence AND l.holder IS NOT NULL`;

/** What is no id names no node; it is asked for in its place. */
const NO_NODE = '-';

export async function readHolderAt(
  reads: PrismaClient,
  tenantId: string,
  nodeId: string,
  at: number,
): Promise<HolderAt> {
  if (!isId(nodeId) && nodeId !== NO_NODE) return readHolderAt(reads, tenantId, NO_NODE, at);
  const [row] = await reads.$queryRawUnsafe<Row[]>(FIND, tenantId, nodeId, at);
  const nobody = { known: row?.oldest != null && Number(row.oldest) <= at, holder: null, fence: null, start: null };
  if (row === undefined || row.start === null) return nobody;
  const ends = [row.ended, row.ending_end, row.row_end].filter((end) => end !== null).map(Number);
  if (!ends.every((end) => isInForce(end, at))) return { ...nobody, known: true };
  return { known: true, holder: row.holder, fence: row.fence, start: Number(row.start) };
}
