import type { PrismaClient } from '../generated/prisma/client.ts';
import type { EndingCause, EventKind } from '../lease/event.ts';
import { conditions } from './conditions.ts';

/** The durable history of a tenant, by seq. */
export interface EventRead {
  readonly seq: bigint;
  readonly at: number;
  readonly kind: EventKind;
  readonly nodeId: string;
  readonly project: string | null;
  readonly holder: string | null;
  readonly session: string | null;
  readonly fence: bigint | null;
  readonly actorPerson: string | null;
  readonly actorAgent: string | null;
  readonly expiresAt: number | null;
  readonly reserved: boolean;
  readonly status: string | null;
  readonly reason: string | null;
  readonly cause: EndingCause | null;
}

export interface EventFilter {
  readonly nodeIds?: readonly string[] | null | undefined;
  readonly kinds?: readonly EventKind[] | null | undefined;
  /** Who held the lease, or who called. */
  readonly personId?: string | null | undefined;
  readonly session?: string | null | undefined;
  readonly project?: string | null | undefined;
  /** Endings that this person, who held the lease, did not bring about by naming it. */
  readonly lostBy?: string | null | undefined;
}

export interface EventPage {
  readonly events: readonly EventRead[];
  readonly hasMore: boolean;
  /** The first that is kept; one after the latest when none is. */
  readonly oldestSeq: bigint;
  /** The last that was written; 0 when none ever was. */
  readonly latestSeq: bigint;
  /** Whether some between the cursor and the oldest are no longer kept. */
  readonly gap: boolean;
}

interface Row {
  seq: bigint;
  at: bigint;
  kind: EventKind;
  node_id: string;
  project: string | null;
  holder: string | null;
  session: string | null;
  fence: bigint | null;
  actor_person: string | null;
  actor_agent: string | null;
  expires_at: bigint | null;
  reserved: boolean;
  status: string | null;
  reason: string | null;
  cause: EndingCause | null;
}

const COLUMNS = `e.seq, holdfast_ms(e.at) AS at, e.kind, e.node_id, e.project, e.holder, e.session, e.fence,
  e.actor_person, e.actor_agent, holdfast_ms(e.expires_at) AS expires_at, e.reserved, e.status, e.reason,
  e.cause`;

const LOST = `(e.holder = ? AND e.kind IN ('RELEASED', 'EXPIRED', 'SUPERSEDED', 'BROKEN') AND e.cause IS DISTINCT FROM 'named')`;

/** Where a tenant's history begins and ends. */
export async function readEventBounds(
  reads: PrismaClient,
  tenantId: string,
): Promise<{ readonly oldestSeq: bigint; readonly latestSeq: bigint }> {
  const [row] = await reads.$queryRawUnsafe<{ oldest: bigint | null; latest: bigint }[]>(
    `SELECT (SELECT e.seq FROM lease_event e WHERE e.tenant_id = $1 ORDER BY e.seq LIMIT 1) AS oldest, t.seq AS latest
     FROM tenant t WHERE t.tenant_id = $1`,
    tenantId,
  );
  const latestSeq = row?.latest ?? 0n;
  return { oldestSeq: row?.oldest ?? latestSeq + 1n, latestSeq };
}

/**
 * Events behind a cursor, in order. What was pruned shows as a gap, by arithmetic: history has no holes of its own.
 * @param after exclusive; 0 begins with the oldest
 */
export async function listEvents(
  reads: PrismaClient,
  tenantId: string,
  after: bigint,
  filter: EventFilter,
  limit: number,
): Promise<EventPage> {
  const selected = conditions('e.tenant_id = $1', tenantId)
    .add('e.seq > ?::bigint', after)
    .add('e.node_id = ANY (?::text[])', filter.nodeIds)
    .add('e.kind = ANY (?::text[])', filter.kinds)
    .add('(e.holder = ? OR e.actor_person = ?)', filter.personId)
    .add('e.session = ?', filter.session)
    .add('e.project = ?', filter.project)
    .add(LOST, filter.lostBy);
  // The bounds first: an event that is pruned or written between the two statements then shows as a gap, or comes later.
  const bounds = await readEventBounds(reads, tenantId);
  const rows = await reads.$queryRawUnsafe<Row[]>(
    `SELECT ${COLUMNS} FROM lease_event e WHERE ${selected.where} ORDER BY e.seq LIMIT ${selected.parameter(limit + 1)}`,
    ...selected.parameters,
  );
  return {
    events: rows.slice(0, limit).map(toEvent),
    hasMore: rows.length > limit,
    ...bounds,
    gap: after < bounds.oldestSeq - 1n && bounds.latestSeq > 0n,
  };
}

function toEvent(row: Row): EventRead {
  return {
    ...{ seq: row.seq, at: Number(row.at), kind: row.kind, nodeId: row.node_id, project: row.project },
    ...{ holder: row.holder, session: row.session, fence: row.fence },
    ...{ actorPerson: row.actor_person, actorAgent: row.actor_agent },
    expiresAt: row.expires_at === null ? null : Number(row.expires_at),
    ...{ reserved: row.reserved, status: row.status, reason: row.reason, cause: row.cause },
  };
}
