import { countNodes, listNodes } from '../read/node-list.ts';
import type { NodeRead } from '../read/work-node.ts';
import { builder } from './builder.ts';
import { connectionOf, listed, once, pageArgs, readPageArgs } from './connection.ts';
import { WorkNode } from './work-node.ts';

/** Nodes by what they are. */
const WorkNodeFilter = builder.inputType('WorkNodeFilter', {
  description: 'Which nodes. All that is given must hold.',
  fields: (t) => ({
    nodeIds: t.idList({ description: 'These nodes.' }),
    type: t.string({ description: 'Of this type.' }),
    status: t.string({ description: 'In this status; open also finds those that were never given one.' }),
    project: t.string({ description: 'In this project.' }),
    priority: t.string({ description: 'Of this priority.' }),
    assigneeId: t.id({ description: 'Carried by this person, by an assigned edge.' }),
  }),
});

const WorkNodeConnection = connectionOf<NodeRead>('WorkNode', 'nodes', WorkNode, true);

builder.queryField('workNodes', (t) =>
  t.field({
    type: WorkNodeConnection,
    description: 'Nodes, by id.',
    args: {
      filter: t.arg({ type: WorkNodeFilter, description: 'Which of them; all when left out.' }),
      ...pageArgs(t.arg),
    },
    resolve: async (_root, { filter, ...args }, { reads, identity: { tenantId } }) => {
      const { limit, after } = readPageArgs(args);
      return {
        page: await listed(listNodes(reads, tenantId, filter ?? {}, limit, after)),
        after,
        total: once(() => countNodes(reads, tenantId, filter ?? {})),
      };
    },
  }),
);
