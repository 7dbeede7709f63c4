import { GraphQLError } from 'graphql';
import { putNodes, refuseTooMany } from '../engine/bulk.ts';
import { toPutNode } from '../graph/node-input.ts';
import { callerOf } from '../identity/authenticate.ts';
import { readPolicy } from '../read/policy.ts';
import { requireAdmin } from './admin.ts';
import { builder } from './builder.ts';
import { IfExists, NodePutStatus } from './enums.ts';

/** Making nodes, many at once. */
const GraphEdgeInput = builder.inputType('GraphEdgeInput', {
  description: 'A durable fact about the new node.',
  fields: (t) => ({
    type: t.string({ required: true, description: 'The relation, such as blocks.' }),
    to: t.id({ required: true, description: 'The id of the other node or person, which need not exist yet.' }),
  }),
});

const WorkNodeInput = builder.inputType('WorkNodeInput', {
  description: 'A node. It is stored as given; nothing is claimed.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The id: small letters, digits and dashes, at most 200.' }),
    type: t.string({
      required: true,
      description: 'What kind of node it is. A node of type person also makes the person.',
    }),
    title: t.string({ description: 'Its title.' }),
    status: t.string({ description: 'Its status, stored as given; none counts as open.' }),
    project: t.string({ description: 'The project it belongs to.' }),
    priority: t.string({ description: 'Its priority, such as p1.' }),
    summary: t.string({ description: 'What it is about, in short.' }),
    body: t.string({ description: 'The text of the node, in Markdown.' }),
    date: t.string({ description: 'The date of the node, such as 2026-11-30.' }),
    neededBy: t.string({ description: 'The date it is needed by, such as 2026-12-24.' }),
    extra: t.field({ type: 'JSON', description: 'An object of any further fields.' }),
    edges: t.field({ type: [GraphEdgeInput], description: 'The edges that leave it.' }),
    stewardIds: t.idList({ description: 'People who watch over it: each gets an edge stewards to the node.' }),
  }),
});

const CreateWorkNodesInput = builder.inputType('CreateWorkNodesInput', {
  description: 'Which nodes to make.',
  fields: (t) => ({
    nodes: t.field({ type: [WorkNodeInput], required: true, description: 'The nodes, in the order they are put.' }),
    ifExists: t.field({
      type: IfExists,
      description: 'What to do about those that exist already; FAIL when left out.',
    }),
  }),
});

interface PutItem {
  readonly id: string;
  readonly status: Uppercase<'created' | 'updated' | 'skipped' | 'failed'>;
  readonly error: string | null;
}

const WorkNodePut = builder.objectRef<PutItem>('WorkNodePut').implement({
  description: 'What became of one node.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id as it was given.' }),
    status: t.expose('status', { type: NodePutStatus, description: 'What was done.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why it was not taken; null when it was.' }),
  }),
});

const CreateWorkNodesPayload = builder.objectRef<readonly PutItem[]>('CreateWorkNodesPayload').implement({
  description: 'What became of the nodes.',
  fields: (t) => ({
    results: t.field({
      type: [WorkNodePut],
      description: 'One for each node, in the order given.',
      resolve: (items) => [...items],
    }),
  }),
});

builder.mutationField('createWorkNodes', (t) =>
  t.field({
    type: CreateWorkNodesPayload,
    nullable: true,
    description: 'Makes nodes, each on its own. Needs admin rights. Errors: INVALID_INPUT for too many at once.',
    args: { input: t.arg({ type: CreateWorkNodesInput, required: true, description: 'Which nodes.' }) },
    resolve: async (_root, { input: { nodes, ifExists } }, context) => {
      const { tenantId } = requireAdmin(context);
      const { bulkMax } = await readPolicy(context.reads, tenantId, null);
      const refused = refuseTooMany('nodes', nodes, bulkMax);
      if (refused !== null)
        throw new GraphQLError(refused.message, { extensions: { code: 'INVALID_INPUT', field: 'nodes' } });
      const caller = callerOf(context.identity);
      const read = nodes.map(({ neededBy, stewardIds, ...node }) =>
        toPutNode({ ...node, needed_by: neededBy, steward_ids: stewardIds }, caller, ifExists ?? 'fail'),
      );
      const put = await putNodes(context.engine, tenantId, read);
      return put.map(({ status, error }, index) => ({
        id: nodes[index]?.id ?? '',
        status: status.toUpperCase() as PutItem['status'],
        error,
      }));
    },
  }),
);
