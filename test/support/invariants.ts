import type { TestDatabase } from './database.ts';

/**
 * What must hold in a database after any test, whatever happened: I1, I2, I4 and I5 of the cases, and a history without
 * gaps. Each query returns the rows that break its rule.
 *
 * Only for databases whose leases came about by the engine: rows that a test arranged by hand have no beginning.
 */
const RULES: Readonly<Record<string, string>> = {
  'I1: a node has one lease row, and two grants of it are never open at once': `
    SELECT tenant_id, node_id, seq FROM (
      SELECT *, sum(CASE WHEN kind IN (BEGINNINGS) THEN 1 ELSE -1 END)
                  OVER (PARTITION BY tenant_id, node_id ORDER BY seq) AS open
      FROM lease_event WHERE kind IN (BEGINNINGS, ENDINGS)) grants
    WHERE open NOT IN (0, 1)`,
  'I2: fences begin at 1 and rise by one with every grant': `
    SELECT tenant_id, node_id, seq, fence FROM (
      SELECT *, row_number() OVER (PARTITION BY tenant_id, node_id ORDER BY seq) AS expected
      FROM lease_event WHERE kind IN (BEGINNINGS)) grants
    WHERE fence <> expected`,
  'I2: the fence of a row is that of its last grant': `
    SELECT tenant_id, node_id, l.fence, granted FROM lease l
    LEFT JOIN (SELECT tenant_id, node_id, max(fence) AS granted FROM lease_event WHERE kind IN (BEGINNINGS)
               GROUP BY 1, 2) e USING (tenant_id, node_id)
    WHERE l.fence <> coalesce(granted, 0)`,
  'I4: a grant has one beginning, and one ending unless it still stands in its row': `
    SELECT e.tenant_id, e.node_id, e.fence, count(*) FILTER (WHERE kind IN (BEGINNINGS)) AS begun,
           count(*) FILTER (WHERE kind IN (ENDINGS)) AS ended
    FROM lease_event e LEFT JOIN lease l
      ON l.tenant_id = e.tenant_id AND l.node_id = e.node_id AND l.fence = e.fence AND l.holder IS NOT NULL
    WHERE e.fence IS NOT NULL
    GROUP BY e.tenant_id, e.node_id, e.fence, l.node_id
    HAVING count(*) FILTER (WHERE kind IN (BEGINNINGS)) <> 1
        OR count(*) FILTER (WHERE kind IN (ENDINGS)) <> CASE WHEN l.node_id IS NULL THEN 1 ELSE 0 END`,
  'I4: all events of a grant stand between its beginning and its ending, and name its holder': `
    SELECT e.tenant_id, e.seq FROM lease_event e
    JOIN (SELECT tenant_id, node_id, fence, min(holder) AS holder,
                 min(seq) FILTER (WHERE kind IN (BEGINNINGS)) AS first,
                 max(seq) FILTER (WHERE kind IN (ENDINGS)) AS last
          FROM lease_event WHERE fence IS NOT NULL GROUP BY 1, 2, 3) g USING (tenant_id, node_id, fence)
    WHERE e.seq < g.first OR e.seq > g.last OR e.holder <> g.holder`,
  'I5: a lease in force has an assigned edge to its holder': `
    SELECT tenant_id, node_id, holder FROM lease l
    WHERE holder IS NOT NULL AND expires_at > holdfast_now() AND NOT EXISTS (
      SELECT FROM edge e WHERE e.tenant_id = l.tenant_id AND e.from_id = l.node_id AND e.type = 'assigned'
        AND e.to_id = l.holder)`,
  'seq has no gap and begins at 1': `
    SELECT tenant_id, t.seq, count(e.seq) AS events, max(e.seq) AS last FROM tenant t
    LEFT JOIN lease_event e USING (tenant_id)
    GROUP BY tenant_id, t.seq HAVING count(e.seq) <> t.seq OR coalesce(max(e.seq), 0) <> t.seq`,
  'at never falls as seq rises': `
    SELECT tenant_id, seq FROM (
      SELECT *, lag(at) OVER (PARTITION BY tenant_id ORDER BY seq) AS earlier FROM lease_event) e
    WHERE at < earlier`,
  'the events of one batch stand together and have one time': `
    SELECT tenant_id, batch FROM lease_event GROUP BY tenant_id, batch
    HAVING max(seq) - min(seq) + 1 <> count(*) OR min(at) <> max(at)`,
};

const BEGINNINGS = `'CLAIMED', 'RECLAIMED'`;
const ENDINGS = `'RELEASED', 'EXPIRED', 'SUPERSEDED', 'BROKEN'`;

export const INVARIANTS: readonly string[] = Object.keys(RULES);

/** The rules that are broken, each with the first rows that break it; empty when all is well. */
export async function brokenInvariants(database: Pick<TestDatabase, 'sql'>): Promise<Record<string, unknown[]>> {
  const broken: Record<string, unknown[]> = {};
  for (const [rule, text] of Object.entries(RULES)) {
    const query = text.replaceAll('BEGINNINGS', BEGINNINGS).replaceAll('ENDINGS', ENDINGS);
    const rows = await database.sql(`SELECT * FROM (${query}) broken LIMIT 5`);
    if (rows.length > 0) broken[rule] = rows;
  }
  return broken;
}
