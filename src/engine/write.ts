import { isEmpty, type LeaseChange, type NetChange, type NodeChange } from './net-change.ts';
import type { Statement, Transaction } from './statement.ts';

/**
 * The third statement of a batch: the net change of leases, edges, nodes and people. Its parts run in no order, which
 * is why no key may appear in two of them. A lease is written only where the fence is still the one that was read
 * under the lock.
 *
 * The tenant is joined as a column behind OFFSET 0: as a constant it would invite a plan that reads the tenant's whole
 * table and filters.
 */
export const WRITE: Statement = {
  name: 'holdfast_write',
  sql: `
WITH leases AS (
  UPDATE lease l
  SET fence = c.fence, holder = c.holder, agent = c.agent, session = c.session, dispatch = c.dispatch,
      claimed_at = holdfast_at(c.claimed_at), expires_at = holdfast_at(c.expires_at), sweep_at = holdfast_at(c.sweep_at),
      reserved = c.reserved
  FROM (
    SELECT $1::text AS tenant_id, *
    FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[],
                $10::bigint[], $11::bigint[], $12::boolean[])
         AS c (node_id, expected, fence, holder, agent, session, dispatch, claimed_at, expires_at, sweep_at, reserved)
    OFFSET 0
  ) c
  WHERE l.tenant_id = c.tenant_id AND l.node_id = c.node_id AND l.fence = c.expected
  RETURNING 1
), edges_added AS (
  INSERT INTO edge (tenant_id, from_id, type, to_id)
  SELECT $1, * FROM unnest($13::text[], $14::text[], $15::text[])
  ON CONFLICT DO NOTHING
), edges_removed AS (
  DELETE FROM edge e
  USING (
    SELECT $1::text AS tenant_id, * FROM unnest($16::text[], $17::text[], $18::text[]) AS c (from_id, type, to_id)
    OFFSET 0
  ) c
  WHERE e.tenant_id = c.tenant_id AND e.from_id = c.from_id AND e.type = c.type AND e.to_id = c.to_id
), nodes_made AS (
  INSERT INTO work_node (tenant_id, node_id, type, title, status, project, priority, summary, body, date, needed_by,
                         extra, revision, created_at, updated_at)
  SELECT $1, c.node_id, f.type, f.title, f.status, f.project, f.priority, f.summary, f.body, f.date, f."neededBy",
         f.extra, c.revision, holdfast_at($29::bigint), holdfast_at($29::bigint)
  FROM unnest($19::text[], $20::jsonb[], $21::bigint[]) AS c (node_id, fields, revision),
       jsonb_to_record(c.fields) AS f (type text, title text, status text, project text, priority text, summary text,
                                       body text, date text, "neededBy" text, extra jsonb)
  RETURNING 1
), nodes_put AS (
  UPDATE work_node n
  SET type = f.type, title = f.title, status = f.status, project = f.project, priority = f.priority,
      summary = f.summary, body = f.body, date = f.date, needed_by = f."neededBy", extra = f.extra,
      revision = c.revision, updated_at = holdfast_at($29::bigint)
  FROM (
    SELECT $1::text AS tenant_id, *
    FROM unnest($22::text[], $23::jsonb[], $24::bigint[]) AS c (node_id, fields, revision)
    OFFSET 0
  ) c, jsonb_to_record(c.fields) AS f (type text, title text, status text, project text, priority text, summary text,
                                       body text, date text, "neededBy" text, extra jsonb)
  WHERE n.tenant_id = c.tenant_id AND n.node_id = c.node_id
  RETURNING 1
), statuses AS (
  UPDATE work_node n
  SET status = c.status, revision = c.revision, updated_at = holdfast_at($29::bigint)
  FROM (
    SELECT $1::text AS tenant_id, * FROM unnest($25::text[], $26::text[], $27::bigint[]) AS c (node_id, status, revision)
    OFFSET 0
  ) c
  WHERE n.tenant_id = c.tenant_id AND n.node_id = c.node_id
  RETURNING 1
), people AS (
  INSERT INTO person (tenant_id, person_id, name, email, created_at)
  SELECT $1, p.*, holdfast_at($29::bigint)
  FROM unnest($28::jsonb[]) AS row,
       jsonb_to_record(row) AS p ("personId" text, name text, email text)
  ON CONFLICT DO NOTHING
)
SELECT (SELECT count(*) FROM leases)::int AS leases,
       (SELECT count(*) FROM nodes_made)::int + (SELECT count(*) FROM nodes_put)::int
         + (SELECT count(*) FROM statuses)::int AS nodes`,
};

/**
 * Writes a net change; nothing at all when there is none.
 * @throws when a row that the lock guards was not as it was read: the rules of locking are broken, and nothing stands
 */
export async function write(tx: Transaction, tenantId: string, change: NetChange, now: number): Promise<void> {
  if (isEmpty(change)) return;
  const { nodesMade, nodesPut, statuses } = change;
  const [row] = await tx.query<{ leases: number; nodes: number }>(
    WRITE,
    tenantId,
    ...leaseColumns(change.leases),
    change.edgesAdded.map((edge) => edge.from),
    change.edgesAdded.map((edge) => edge.type),
    change.edgesAdded.map((edge) => edge.to),
    change.edgesRemoved.map((edge) => edge.from),
    change.edgesRemoved.map((edge) => edge.type),
    change.edgesRemoved.map((edge) => edge.to),
    ...nodeColumns(nodesMade),
    ...nodeColumns(nodesPut),
    statuses.map((node) => node.nodeId),
    statuses.map((node) => node.status),
    statuses.map((node) => String(node.revision)),
    change.people.map((person) => JSON.stringify(person)),
    now,
  );
  const nodes = nodesMade.length + nodesPut.length + statuses.length;
  if (row?.leases !== change.leases.length || row.nodes !== nodes) {
    throw new Error(
      `a locked row changed under its lock: wrote ${row?.leases} of ${change.leases.length} leases, ${row?.nodes} of ${nodes} nodes`,
    );
  }
}

function leaseColumns(leases: readonly LeaseChange[]): readonly unknown[] {
  const holds = leases.map(({ lease }) => lease.hold);
  return [
    leases.map(({ nodeId }) => nodeId),
    leases.map(({ expected }) => String(expected)),
    leases.map(({ lease }) => String(lease.fence)),
    holds.map((hold) => hold?.holder ?? null),
    holds.map((hold) => hold?.agent ?? null),
    holds.map((hold) => hold?.session ?? null),
    holds.map((hold) => hold?.dispatch ?? null),
    holds.map((hold) => hold?.claimedAt ?? null),
    holds.map((hold) => hold?.expiresAt ?? null),
    holds.map((hold) => hold?.sweepAt ?? null),
    holds.map((hold) => hold?.reserved ?? false),
  ];
}

function nodeColumns(nodes: readonly NodeChange[]): readonly unknown[] {
  return [
    nodes.map(({ nodeId }) => nodeId),
    nodes.map(({ fields }) => JSON.stringify(fields)),
    nodes.map(({ revision }) => String(revision)),
  ];
}
