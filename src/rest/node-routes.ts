import { z } from 'zod';
import { putNodes, refuseTooMany } from '../engine/bulk.ts';
import { renderNode } from '../graph/front-matter.ts';
import { nodeInput, toPutNode } from '../graph/node-input.ts';
import { callerOf } from '../identity/authenticate.ts';
import { malformedId } from '../lease/check-input.ts';
import { isId } from '../lease/node-id.ts';
import { notFound } from '../lease/refusal.ts';
import { readLeases } from '../read/leases.ts';
import { readPolicy } from '../read/policy.ts';
import { readEdges, readNodes } from '../read/work-node.ts';
import { namesOf, nodeParams, type RestContext, type RestParts } from './door.ts';
import { refusalAnswer } from './errors.ts';
import type { Routes } from './routes.ts';
import { lease as leaseAnswer, leaseJson } from './wire.ts';

/** Nodes: one read whole, many made. */
const ifExists = z
  .enum(['fail', 'skip', 'update'], 'must be fail, skip or update')
  .nullish()
  .describe('What becomes of an item whose node exists: it fails (the default), is skipped, or is updated.');
const putBody = z.object({ nodes: z.array(z.unknown(), 'must be a list of nodes'), if_exists: ifExists });
const shownBody = putBody.extend({ nodes: z.array(nodeInput).describe('At most `bulk_max` nodes, 1,000 by default.') });

const frontmatter = z
  .looseObject({
    id: z.string().describe('The id of the node.'),
    type: z.string().describe('What it is.'),
    status: z.string().describe('Its status; open where none was ever set.'),
    title: z.string().optional().describe('What it is called.'),
    project: z.string().optional().describe('The project it belongs to.'),
    priority: z.string().optional().describe('How urgent it is.'),
    summary: z.string().optional().describe('What it is about, in short.'),
    date: z.string().optional().describe('A date of its own, as it was written.'),
    needed_by: z.string().optional().describe('The date by which it is needed, as it was written.'),
  })
  .describe('The fields of the node, and what else its front matter had.');
const edge = z
  .object({
    type: z.string().describe('What the edge says, such as blocks or assigned.'),
    to: z.string().describe('The id of the node, or of the person, that it points at.'),
  })
  .meta({ id: 'Edge', description: 'A durable fact about the node.' });
const node = z
  .object({
    id: z.string().describe('The id of the node.'),
    raw: z.string().describe('The node as markdown with front matter.'),
    frontmatter,
    revision: z.string().describe('Rises when the node changes: a decimal number. Claims do not change a node.'),
    lease: leaseAnswer.optional().describe('The lease in force; absent when nobody holds it.'),
    edges: z.array(edge).describe('The edges that leave it.'),
  })
  .meta({ id: 'Node', description: 'A node, read whole.' });

const putResult = z.object({
  id: z.unknown().describe('The id as it was given; null where there was none.'),
  status: z.enum(['created', 'updated', 'skipped', 'failed']).describe('What became of the item.'),
  error: z.string().optional().describe('Why it failed.'),
});
const put = z
  .object({ results: z.array(putResult).describe('One for each node, in the order given.') })
  .meta({ id: 'NodesPut', description: 'What became of each node.' });

export function nodeRoutes(routes: Routes, parts: RestParts): void {
  const { engine, reads } = parts;
  routes.add(
    {
      ...{ method: 'GET', path: '/v1/nodes/{id}', name: 'readNode', tag: 'nodes', summary: 'Read a node whole.' },
      ...{ params: nodeParams, answer: node, errors: ['not_found'] },
    },
    (c, { params }) => readWhole(parts, c, params.id),
  );
  routes.add(
    {
      ...{ method: 'POST', path: '/v1/nodes', name: 'putNodes', tag: 'nodes', right: 'admin' },
      summary: 'Make nodes, or change them. Each item succeeds or fails by itself.',
      ...{ body: putBody, shown: shownBody, answer: put },
    },
    async (c, { body: { nodes, if_exists } }) => {
      const identity = c.get('identity');
      const { bulkMax } = await readPolicy(reads, identity.tenantId, null);
      const refused = refuseTooMany('nodes', nodes, bulkMax);
      if (refused !== null) return refusalAnswer(c, refused, new Map());
      const read = nodes.map((raw) => toPutNode(raw, callerOf(identity), if_exists ?? 'fail'));
      const answers = await putNodes(engine, identity.tenantId, read);
      const results = answers.map(({ status, error }, index) => ({
        ...{ id: idOf(nodes[index]), status },
        ...(error !== null && { error }),
      }));
      return { results };
    },
  );
}

async function readWhole(parts: RestParts, c: RestContext, id: string): Promise<z.output<typeof node> | Response> {
  const { reads } = parts;
  const identity = c.get('identity');
  if (!isId(id)) return refusalAnswer(c, malformedId('id', id), new Map());
  const [nodes, allEdges, leases] = await Promise.all([
    readNodes(reads, identity.tenantId, [id]),
    readEdges(reads, identity.tenantId, [id]),
    readLeases(reads, identity.tenantId, [id]),
  ]);
  const found = nodes.get(id);
  if (found === undefined) return refusalAnswer(c, notFound(id), new Map());
  const edges = [...(allEdges.get(id) ?? [])];
  const lease = leases.get(id);
  const names = await namesOf(parts, identity, lease === undefined ? [] : [lease]);
  const { nodeId, neededBy, extra, revision, body, ...fields } = found;
  const said = { id: nodeId, ...fields, needed_by: neededBy, ...extra };
  return {
    id,
    raw: renderNode({ id: nodeId, ...fields, body, needed_by: neededBy, extra }, edges),
    frontmatter: Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null)) as FrontMatter,
    revision,
    ...(lease !== undefined && { lease: leaseJson(lease, names) }),
    edges,
  };
}

type FrontMatter = z.output<typeof frontmatter>;

/** The id as it was given, as far as there is one. */
function idOf(raw: unknown): unknown {
  return typeof raw === 'object' && raw !== null && 'id' in raw ? raw.id : null;
}
