import { Hono } from 'hono';
import { z } from 'zod';
import { putNodes, refuseTooMany } from '../engine/bulk.ts';
import { renderNode } from '../graph/front-matter.ts';
import { toPutNode } from '../graph/node-input.ts';
import { callerOf } from '../identity/authenticate.ts';
import { malformedId } from '../lease/check-input.ts';
import { isId } from '../lease/node-id.ts';
import { notFound } from '../lease/refusal.ts';
import { readLeases } from '../read/leases.ts';
import { readPolicy } from '../read/policy.ts';
import { readEdges, readNodes } from '../read/work-node.ts';
import { readBody } from './body.ts';
import { namesOf, type RestEnv, type RestParts, requireAdmin } from './door.ts';
import { refusalAnswer } from './errors.ts';
import { leaseJson } from './wire.ts';

/** Nodes: one read whole, many made. */
const putBody = z.object({
  nodes: z.array(z.unknown(), 'must be a list of nodes'),
  if_exists: z.enum(['fail', 'skip', 'update'], 'must be fail, skip or update').nullish(),
});

export function nodeRoutes(parts: RestParts): Hono<RestEnv> {
  const routes = new Hono<RestEnv>();
  const { engine, reads } = parts;

  routes.get('/nodes/:id', async (c) => {
    const id = c.req.param('id');
    const identity = c.get('identity');
    if (!isId(id)) return refusalAnswer(c, malformedId('id', id), new Map());
    const [nodes, allEdges, leases] = await Promise.all([
      readNodes(reads, identity.tenantId, [id]),
      readEdges(reads, identity.tenantId, [id]),
      readLeases(reads, identity.tenantId, [id]),
    ]);
    const node = nodes.get(id);
    if (node === undefined) return refusalAnswer(c, notFound(id), new Map());
    const edges = allEdges.get(id) ?? [];
    const lease = leases.get(id);
    const names = await namesOf(parts, identity, lease === undefined ? [] : [lease]);
    const { nodeId, neededBy, extra, revision, body, ...fields } = node;
    const frontmatter = { id: nodeId, ...fields, needed_by: neededBy, ...extra };
    return c.json({
      id,
      raw: renderNode({ id: nodeId, ...fields, body, needed_by: neededBy, extra }, edges),
      frontmatter: Object.fromEntries(Object.entries(frontmatter).filter(([, value]) => value !== null)),
      revision,
      ...(lease !== undefined && { lease: leaseJson(lease, names) }),
      edges,
    });
  });

  routes.post('/nodes', async (c) => {
    const identity = requireAdmin(c);
    const { nodes, if_exists } = await readBody(c, putBody);
    const { bulkMax } = await readPolicy(reads, identity.tenantId, null);
    const refused = refuseTooMany('nodes', nodes, bulkMax);
    if (refused !== null) return refusalAnswer(c, refused, new Map());
    const read = nodes.map((raw) => toPutNode(raw, callerOf(identity), if_exists ?? 'fail'));
    const put = await putNodes(engine, identity.tenantId, read);
    const results = put.map(({ status, error }, index) => ({
      id: idOf(nodes[index]),
      status,
      ...(error !== null && { error }),
    }));
    return c.json({ results });
  });
  return routes;
}

/** The id as it was given, as far as there is one. */
function idOf(raw: unknown): unknown {
  return typeof raw === 'object' && raw !== null && 'id' in raw ? raw.id : null;
}
