import type { LeaseEvent } from '../lease/event.ts';
import type { Statement, Transaction } from './statement.ts';

/**
 * The last statement before COMMIT: takes the next places in the tenant's history and writes the events there. The
 * tenant's row is the last lock of a batch and is held until the commit, so seqs are gapless and in commit order: who
 * has read up to n can never be overtaken by a late n - 1.
 *
 * An event's time is the batch's clock, but never before that of the event that stands in front of it.
 */
export const APPEND: Statement = {
  name: 'holdfast_append',
  sql: `
WITH place AS (
  UPDATE tenant
  SET seq = seq + cardinality($2::text[]), last_at = greatest(last_at, holdfast_at($15::bigint))
  WHERE tenant_id = $1
  RETURNING seq - cardinality($2::text[]) AS base, last_at
), written AS (
  INSERT INTO lease_event (tenant_id, seq, at, kind, node_id, project, holder, session, fence, actor_person, actor_agent,
                           expires_at, reserved, status, reason, cause, batch)
  SELECT $1, place.base + e.ord, place.last_at, e.kind, e.node_id, e.project, e.holder, e.session, e.fence,
         e.actor_person, e.actor_agent, holdfast_at(e.expires_at), e.reserved, e.status, e.reason, e.cause, $16::bigint
  FROM place,
       unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[],
              $10::bigint[], $11::boolean[], $12::text[], $13::text[], $14::text[])
         WITH ORDINALITY AS e (kind, node_id, project, holder, session, fence, actor_person, actor_agent, expires_at,
                               reserved, status, reason, cause, ord)
  RETURNING 1
)
SELECT base, (SELECT count(*) FROM written)::int AS written FROM place`,
};

/**
 * Writes the events, in order; no statement at all when there are none.
 * @param batch the random number that names this batch in its events
 */
export async function appendEvents(
  tx: Transaction,
  tenantId: string,
  events: readonly LeaseEvent[],
  now: number,
  batch: bigint,
): Promise<void> {
  if (events.length === 0) return;
  const [row] = await tx.query<{ base: bigint; written: number }>(
    APPEND,
    tenantId,
    events.map((event) => event.kind),
    events.map((event) => event.nodeId),
    events.map((event) => event.project),
    events.map((event) => event.holder),
    events.map((event) => event.session),
    events.map((event) => (event.fence === null ? null : String(event.fence))),
    events.map((event) => event.actor?.person ?? null),
    events.map((event) => event.actor?.agent ?? null),
    events.map((event) => event.expiresAt),
    events.map((event) => event.reserved),
    events.map((event) => event.status),
    events.map((event) => event.reason ?? null),
    events.map((event) => event.cause ?? null),
    now,
    String(batch),
  );
  if (row?.written !== events.length)
    throw new Error(`wrote ${row?.written} of ${events.length} events of ${tenantId}`);
}
