import { assignedEdge, type Command, type Edge, type NodeFields } from '../lease/command.ts';
import type { Lease } from '../lease/lease.ts';
import { type Policy, type PolicySettings, resolvePolicy } from '../lease/policy.ts';
import { edgeKey, type WorkNode } from '../lease/state.ts';
import { type LeaseRow, type Locked, toLease } from './lock.ts';
import type { Statement, Transaction } from './statement.ts';

/**
 * The second statement of a batch: what is needed beside the locked rows. Its snapshot is newer than every lock, so
 * edges and fields of a locked node are as the last holder of that lock left them. A lease row that was not locked is
 * read too, to say who holds it; it is never the base of a write. Every look-up is LATERAL and by key, as in `lock.ts`.
 */
export const READ: Statement = {
  name: 'holdfast_read',
  sql: `
SELECT
  coalesce((
    SELECT json_agg(json_build_array(n.node_id, n.type, n.status, n.project, n.revision::text))
    FROM unnest($2::text[]) AS id CROSS JOIN LATERAL (
      SELECT * FROM work_node n WHERE n.tenant_id = $1 AND n.node_id = id LIMIT 1) n), '[]')::text AS nodes,
  coalesce((
    SELECT json_agg(json_build_array(n.node_id, json_build_object('type', n.type, 'title', n.title, 'status', n.status,
      'project', n.project, 'priority', n.priority, 'summary', n.summary, 'body', n.body, 'date', n.date,
      'neededBy', n.needed_by, 'extra', n.extra)))
    FROM unnest($3::text[]) AS id CROSS JOIN LATERAL (
      SELECT * FROM work_node n WHERE n.tenant_id = $1 AND n.node_id = id LIMIT 1) n), '[]')::text AS fields,
  coalesce((
    SELECT json_agg(json_build_array(l.node_id, l.fence::text, l.holder, l.agent, l.session, l.dispatch,
      holdfast_ms(l.claimed_at), holdfast_ms(l.expires_at), holdfast_ms(l.sweep_at), l.reserved))
    FROM unnest($4::text[]) AS id CROSS JOIN LATERAL (
      SELECT * FROM lease l WHERE l.tenant_id = $1 AND l.node_id = id LIMIT 1) l), '[]')::text AS leases,
  coalesce((
    SELECT json_agg(json_build_array(e.from_id, e.type, e.to_id))
    FROM unnest($5::text[], $6::text[], $7::text[]) AS p (from_id, type, to_id) CROSS JOIN LATERAL (
      SELECT * FROM edge e
      WHERE e.tenant_id = $1 AND e.from_id = p.from_id AND e.type = p.type AND e.to_id = p.to_id
      LIMIT 1) e), '[]')::text AS edges,
  coalesce((
    SELECT json_agg(json_build_array(s.project, json_build_object('claimTtlMs', s.claim_ttl_ms,
      'claimTtlMaxMs', s.claim_ttl_max_ms, 'reserveGraceMs', s.reserve_grace_ms, 'bulkMax', s.bulk_max,
      'heldMax', s.held_max)))
    FROM policy s
    WHERE s.tenant_id = $1), '[]')::text AS policies,
  coalesce((
    SELECT json_agg(json_build_array(p.person, (
      SELECT count(*) FROM lease l
      WHERE l.tenant_id = $1 AND l.holder = p.person AND l.expires_at > holdfast_at($9::bigint))))
    FROM unnest($8::text[]) AS p (person)), '[]')::text AS held`,
};

export interface BatchState {
  readonly now: number;
  readonly nodes: ReadonlyMap<string, WorkNode>;
  /** Every lease row of the batch's nodes; those in `locked` are ours. */
  readonly leases: ReadonlyMap<string, Lease>;
  readonly locked: ReadonlySet<string>;
  /** Those edges that exist, of all that the commands may touch, by node. */
  readonly edges: ReadonlyMap<string, ReadonlyMap<string, Edge>>;
  /** Leases in force of the people asked about. */
  readonly held: ReadonlyMap<string, number>;
  policyOf(project: string | null): Policy;
}

interface Row {
  nodes: string;
  fields: string;
  leases: string;
  edges: string;
  policies: string;
  held: string;
}

/**
 * @param count people whose leases in force are to be counted, because they may be near their limit
 */
export async function readState(
  tx: Transaction,
  tenantId: string,
  commands: readonly Command[],
  locked: Locked,
  count: readonly string[],
): Promise<BatchState> {
  const ids = [...new Set(commands.map((command) => command.nodeId))];
  const puts = new Set(commands.filter((command) => command.verb === 'put-node').map((command) => command.nodeId));
  const probes = new Map<string, { nodeId: string; edge: Edge }>();
  for (const command of commands) {
    for (const edge of edgesOf(command, locked.leases.get(command.nodeId)))
      probes.set(`${command.nodeId} ${edgeKey(edge)}`, { nodeId: command.nodeId, edge });
  }
  const asked = [...probes.values()];
  const [row] = await tx.query<Row>(
    READ,
    tenantId,
    ids,
    [...puts],
    ids.filter((id) => !locked.leases.has(id)),
    asked.map(({ edge }) => edge.from),
    asked.map(({ edge }) => edge.type),
    asked.map(({ edge }) => edge.to),
    count,
    locked.now,
  );
  if (row === undefined) throw new Error('the read statement returned no row');
  const leases = new Map(locked.leases);
  for (const lease of JSON.parse(row.leases) as LeaseRow[]) leases.set(lease[0], toLease(lease));
  return {
    now: locked.now,
    nodes: toNodes(row),
    leases,
    locked: new Set(locked.leases.keys()),
    edges: toEdges(row, asked),
    held: new Map(JSON.parse(row.held) as [string, number][]),
    policyOf: toPolicies(row),
  };
}

/** The edges that a command may write or take away. */
export function edgesOf(command: Command, lease: Lease | undefined): readonly Edge[] {
  switch (command.verb) {
    case 'expire':
      return [];
    case 'add-edge':
    case 'remove-edge':
      return [command.edge];
    // Whoever held it when it was locked; who takes it within the batch has its edge read for that.
    case 'break':
      return lease?.hold == null ? [] : [assignedEdge(command.nodeId, lease.hold.holder)];
    case 'put-node':
      return command.edges;
    default:
      return [assignedEdge(command.nodeId, command.caller.person)];
  }
}

function toNodes(row: Row): ReadonlyMap<string, WorkNode> {
  const fields = new Map(JSON.parse(row.fields) as [string, Required<NodeFields>][]);
  const nodes = new Map<string, WorkNode>();
  type NodeRow = [string, string, string | null, string | null, string];
  for (const [nodeId, type, status, project, revision] of JSON.parse(row.nodes) as NodeRow[]) {
    nodes.set(nodeId, { type, status, project, revision: BigInt(revision), fields: fields.get(nodeId) ?? null });
  }
  return nodes;
}

function toEdges(
  row: Row,
  asked: readonly { nodeId: string; edge: Edge }[],
): ReadonlyMap<string, ReadonlyMap<string, Edge>> {
  const existing = new Set((JSON.parse(row.edges) as string[][]).map((parts) => parts.join(' ')));
  const edges = new Map<string, Map<string, Edge>>();
  for (const { nodeId, edge } of asked) {
    const key = edgeKey(edge);
    if (!existing.has(key)) continue;
    const ofNode = edges.get(nodeId) ?? new Map<string, Edge>();
    edges.set(nodeId, ofNode.set(key, edge));
  }
  return edges;
}

function toPolicies(row: Row): (project: string | null) => Policy {
  const settings = new Map(JSON.parse(row.policies) as [string, PolicySettings][]);
  const resolved = new Map<string | null, Policy>();
  return (project) => {
    const known = resolved.get(project);
    if (known !== undefined) return known;
    const policy = resolvePolicy(settings.get(''), project === null ? undefined : settings.get(project));
    resolved.set(project, policy);
    return policy;
  };
}
