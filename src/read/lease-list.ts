import type { PrismaClient } from '../generated/prisma/client.ts';
import type { LeaseView } from '../lease/refusal.ts';
import { type Conditions, conditions } from './conditions.ts';
import { CLOCK, LEASE_COLUMNS, type LeaseRow, toView } from './leases.ts';
import { decodeCursor, encodeCursor, MOST_COUNTED, type Page, type Total, toPage } from './page.ts';

/**
 * Lists of leases in force.
 *
 * By age a list is complete and without repeats while verbs run beside it: it ends at the moment of its first page, so
 * a node that is released and taken again later is not met twice. By end it can't be: a heartbeat moves a lease on, and
 * the list may meet it again. By end is a sort of all that the filter selects; by age it is read off an index.
 */
export interface LeaseFilter {
  readonly personId?: string | null | undefined;
  readonly agentId?: string | null | undefined;
  /** Bound to exactly this session. */
  readonly session?: string | null | undefined;
  readonly project?: string | null | undefined;
  readonly nodeIds?: readonly string[] | null | undefined;
  readonly reserved?: boolean | null | undefined;
  readonly expiringWithinMs?: number | null | undefined;
}

export type LeaseOrder = 'AGE' | 'ENDS_AT';

export interface LeasePage {
  readonly order: LeaseOrder;
  readonly limit: number;
  readonly after: string | null;
}

const KEY = { AGE: 'claimed_at', ENDS_AT: 'expires_at' } as const;

function filtered(tenantId: string, filter: LeaseFilter): Conditions {
  return underFilter('l.tenant_id = $1 AND l.holder IS NOT NULL AND l.expires_at > clock.now', tenantId, filter);
}

/** What a filter selects of the lease rows that `first` does. The tenant is the first parameter. */
export function underFilter(first: string, tenantId: string, filter: LeaseFilter): Conditions {
  return conditions(first, tenantId)
    .add('l.holder = ?', filter.personId)
    .add('l.agent = ?', filter.agentId)
    .add('l.session = ?', filter.session)
    .add(
      'EXISTS (SELECT FROM work_node n WHERE n.tenant_id = $1 AND n.node_id = l.node_id AND n.project = ?)',
      filter.project,
    )
    .add('l.node_id = ANY (?::text[])', filter.nodeIds)
    .add('l.reserved = ?', filter.reserved)
    .add(WITHIN, filter.expiringWithinMs == null ? null : Math.min(filter.expiringWithinMs, LONGEST_WITHIN_MS));
}

/** Beyond every end, and within what the database can add to its clock. */
const LONGEST_WITHIN_MS = 1e12;

/** `sweep_at` is never after the end and has an index: it finds the candidates, the end decides. */
const WITHIN = `l.sweep_at <= clock.now + ?::float8 * interval '1 millisecond'
  AND l.expires_at <= clock.now + ?::float8 * interval '1 millisecond'`;

/** @throws InvalidCursor */
export async function listLeases(
  reads: PrismaClient,
  tenantId: string,
  filter: LeaseFilter,
  { order, limit, after }: LeasePage,
): Promise<Page<LeaseView>> {
  const selected = filtered(tenantId, filter);
  const begun = after === null ? null : position(selected, order, after);
  const rows = await reads.$queryRawUnsafe<LeaseRow[]>(
    `SELECT ${LEASE_COLUMNS} FROM ${CLOCK}, lease l WHERE ${selected.where}
     ORDER BY l.${KEY[order]}, l.node_id LIMIT ${selected.parameter(limit + 1)}`,
    ...selected.parameters,
  );
  const horizon = begun ?? Number(rows[0]?.now ?? 0);
  return toPage(rows.map(toView), limit, (lease) => cursorOf(order, horizon, lease));
}

/** Begins behind a cursor. @returns the moment of the list's first page, ms */
function position(selected: Conditions, order: LeaseOrder, after: string): number {
  const [horizon, at, nodeId] = decodeCursor(`leases ${order}`, after, ['number', 'number', 'string']);
  const key = `l.${KEY[order]}`;
  const from = selected.parameter(at);
  selected.add(`(${key}, l.node_id) > (holdfast_at(${from}::bigint), ?)`, nodeId);
  if (order === 'AGE') selected.add('l.claimed_at <= holdfast_at(?::bigint)', horizon);
  return Number(horizon);
}

function cursorOf(order: LeaseOrder, horizon: number, lease: LeaseView): string {
  return encodeCursor(`leases ${order}`, [horizon, order === 'AGE' ? lease.claimedAt : lease.expiresAt, lease.nodeId]);
}

/** How many leases the filter selects, counted as far as a total is. */
export async function countLeases(reads: PrismaClient, tenantId: string, filter: LeaseFilter): Promise<Total> {
  const { where, parameters } = filtered(tenantId, filter);
  const [row] = await reads.$queryRawUnsafe<{ count: number }[]>(
    `SELECT count(*)::int AS count FROM (SELECT FROM ${CLOCK}, lease l WHERE ${where} LIMIT ${MOST_COUNTED + 1}) counted`,
    ...parameters,
  );
  const count = row?.count ?? 0;
  return { count: Math.min(count, MOST_COUNTED), capped: count > MOST_COUNTED };
}

/**
 * The first leases of each of these people, all by one statement.
 * @returns a page for each person, by age
 */
export async function listLeasesOfEach(
  reads: PrismaClient,
  tenantId: string,
  people: readonly string[],
  limit: number,
): Promise<ReadonlyMap<string, Page<LeaseView>>> {
  const rows = await reads.$queryRawUnsafe<LeaseRow[]>(
    `SELECT l.*, holdfast_ms(clock.now) AS now
     FROM ${CLOCK}, unnest($2::text[]) AS p (person) CROSS JOIN LATERAL (
       SELECT ${LEASE_COLUMNS.replace(', holdfast_ms(clock.now) AS now', '')}
       FROM lease l
       WHERE l.tenant_id = $1 AND l.holder = p.person AND l.expires_at > clock.now
       ORDER BY l.claimed_at, l.node_id
       LIMIT $3) l
     ORDER BY l.claimed_at, l.node_id`,
    tenantId,
    people,
    limit + 1,
  );
  const ofEach = new Map<string, LeaseView[]>(people.map((person) => [person, []]));
  for (const row of rows) ofEach.get(row.holder)?.push(toView(row));
  const horizon = Number(rows[0]?.now ?? 0);
  return new Map(
    [...ofEach].map(([person, leases]) => [person, toPage(leases, limit, (lease) => cursorOf('AGE', horizon, lease))]),
  );
}
