import type { EdgeRead, NodeRead } from '../read/work-node.ts';
import { builder } from './builder.ts';
import { Person } from './person.ts';

/** Nodes and their edges, and the query for one. The lease is added where leases are. */
const GraphEdge = builder.objectRef<EdgeRead>('GraphEdge').implement({
  description: 'A durable fact: this node stands in that relation to another.',
  fields: (t) => ({
    type: t.exposeString('type', { description: 'The relation, such as assigned or blocks.' }),
    to: t.exposeID('to', { description: 'The id of the other node or person, which need not exist yet.' }),
  }),
});

export const WorkNode = builder.objectRef<NodeRead>('WorkNode');

builder.node(WorkNode, {
  description:
    'A node of the graph of work. Tasks, issues, incidents, questions, findings, captures and workflows carry a lease.',
  id: { resolve: ({ nodeId }) => nodeId },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.node.load(id))),
  fields: (t) => ({
    nodeId: t.exposeID('nodeId', { description: 'The id of the node, as every argument takes it.' }),
    type: t.exposeString('type', { description: 'What kind of node it is, such as task or issue.' }),
    title: t.exposeString('title', { nullable: true, description: 'Its title; null for none.' }),
    status: t.exposeString('status', { description: 'Its status; open where none was set.' }),
    project: t.exposeString('project', { nullable: true, description: 'The project it belongs to; null for none.' }),
    priority: t.exposeString('priority', { nullable: true, description: 'Its priority, such as p1; null for none.' }),
    summary: t.exposeString('summary', { nullable: true, description: 'What it is about, in short; null for none.' }),
    revision: t.exposeString('revision', { description: 'A number that rises when the fields of the node change.' }),
    assignees: t.field({
      type: [Person],
      description: 'The people who carry it, by its assigned edges. An edge to someone unknown shows among edges only.',
      resolve: async ({ nodeId }, _args, { load }) => {
        const edges = (await load.edges.load(nodeId)) ?? [];
        const people = await Promise.all(
          edges.filter(({ type }) => type === 'assigned').map(({ to }) => load.person.load(to)),
        );
        return people.filter((person) => person !== null);
      },
    }),
    edges: t.field({
      type: [GraphEdge],
      description: 'The edges that leave the node, by type and target.',
      resolve: async ({ nodeId }, _args, { load }) => (await load.edges.load(nodeId)) ?? [],
    }),
  }),
});

builder.queryField('workNode', (t) =>
  t.field({
    type: WorkNode,
    nullable: true,
    description: 'One node; null when the tenant has no such node.',
    args: { nodeId: t.arg.id({ required: true, description: 'The id of the node.' }) },
    resolve: (_root, { nodeId }, { load }) => load.node.load(nodeId),
  }),
);
