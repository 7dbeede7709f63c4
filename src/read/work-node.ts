import type { PrismaClient } from '../generated/prisma/client.ts';
import { DEFAULT_STATUS } from '../lease/node-status.ts';

/** Nodes and their edges, by id. Both doors read them here; another tenant's are as if they were not. */
export interface NodeRead {
  readonly nodeId: string;
  readonly type: string;
  readonly title: string | null;
  /** `open` where none was ever set. */
  readonly status: string;
  readonly project: string | null;
  readonly priority: string | null;
  readonly summary: string | null;
  readonly body: string | null;
  readonly date: string | null;
  readonly neededBy: string | null;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly revision: string;
}

export interface EdgeRead {
  readonly type: string;
  readonly to: string;
}

/** The nodes that exist, by id. */
export async function readNodes(
  reads: PrismaClient,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, NodeRead>> {
  const rows = await reads.workNode.findMany({ where: { tenantId, nodeId: { in: [...ids] } } });
  return new Map(
    rows.map(({ nodeId, type, title, status, project, priority, summary, body, date, neededBy, extra, revision }) => [
      nodeId,
      {
        ...{ nodeId, type, title, project, priority, summary, body, date, neededBy },
        status: status ?? DEFAULT_STATUS,
        extra: extra as Readonly<Record<string, unknown>>,
        revision: String(revision),
      },
    ]),
  );
}

/** The edges that leave each node, by type and target. */
export async function readEdges(
  reads: PrismaClient,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly EdgeRead[]>> {
  const rows = await reads.edge.findMany({
    where: { tenantId, fromId: { in: [...ids] } },
    orderBy: [{ fromId: 'asc' }, { type: 'asc' }, { toId: 'asc' }],
  });
  const edges = new Map<string, EdgeRead[]>();
  for (const { fromId, type, toId } of rows) edges.set(fromId, [...(edges.get(fromId) ?? []), { type, to: toId }]);
  return edges;
}
