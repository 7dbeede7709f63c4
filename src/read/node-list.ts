import type { PrismaClient } from '../generated/prisma/client.ts';
import { DEFAULT_STATUS } from '../lease/node-status.ts';
import { conditions } from './conditions.ts';
import { decodeCursor, encodeCursor, MOST_COUNTED, type Page, type Total, toPage } from './page.ts';
import { type NodeRead, readNodes } from './work-node.ts';

/** Lists of nodes, by id: complete and without repeats, since ids do not move. */
export interface NodeFilter {
  readonly nodeIds?: readonly string[] | null | undefined;
  readonly type?: string | null | undefined;
  /** `open` also finds those that were never given a status. */
  readonly status?: string | null | undefined;
  readonly project?: string | null | undefined;
  readonly priority?: string | null | undefined;
  /** Nodes with an assigned edge to this person. */
  readonly assigneeId?: string | null | undefined;
}

const ASSIGNED = `EXISTS (SELECT FROM edge e
  WHERE e.tenant_id = $1 AND e.from_id = n.node_id AND e.type = 'assigned' AND e.to_id = ?)`;

function filtered(tenantId: string, filter: NodeFilter) {
  return conditions('n.tenant_id = $1', tenantId)
    .add('n.node_id = ANY (?::text[])', filter.nodeIds)
    .add('n.type = ?', filter.type)
    .add(filter.status === DEFAULT_STATUS ? '(n.status = ? OR n.status IS NULL)' : 'n.status = ?', filter.status)
    .add('n.project = ?', filter.project)
    .add('n.priority = ?', filter.priority)
    .add(ASSIGNED, filter.assigneeId);
}

/** @throws InvalidCursor */
export async function listNodes(
  reads: PrismaClient,
  tenantId: string,
  filter: NodeFilter,
  limit: number,
  after: string | null,
): Promise<Page<NodeRead>> {
  const selected = filtered(tenantId, filter);
  if (after !== null) selected.add('n.node_id > ?', decodeCursor('nodes', after, ['string'])[0]);
  const rows = await reads.$queryRawUnsafe<{ node_id: string }[]>(
    `SELECT n.node_id FROM work_node n WHERE ${selected.where} ORDER BY n.node_id LIMIT ${selected.parameter(limit + 1)}`,
    ...selected.parameters,
  );
  const ids = rows.map((row) => row.node_id);
  const nodes = await readNodes(reads, tenantId, ids);
  // One that went between the two statements is left out, as if the list had been read after it went.
  const items = ids.flatMap((id) => nodes.get(id) ?? []);
  return toPage(items, limit, ({ nodeId }) => encodeCursor('nodes', [nodeId]));
}

/** How many nodes the filter selects, counted as far as a total is. */
export async function countNodes(reads: PrismaClient, tenantId: string, filter: NodeFilter): Promise<Total> {
  const { where, parameters } = filtered(tenantId, filter);
  const [row] = await reads.$queryRawUnsafe<{ count: number }[]>(
    `SELECT count(*)::int AS count FROM (SELECT FROM work_node n WHERE ${where} LIMIT ${MOST_COUNTED + 1}) counted`,
    ...parameters,
  );
  const count = row?.count ?? 0;
  return { count: Math.min(count, MOST_COUNTED), capped: count > MOST_COUNTED };
}
