import type { LeaseView } from '../lease/refusal.ts';
import type { NodeRead } from '../read/work-node.ts';
import { builder } from './builder.ts';
import { Agent, Person, stranger } from './person.ts';
import { WorkNode } from './work-node.ts';

/** A lease in force, and the query for one. */
export const Lease = builder.objectRef<LeaseView>('Lease');

builder.node(Lease, {
  description:
    'The hold of one person on one node. It is in force while now is before expiresAt, and lapses by itself.',
  id: { resolve: ({ nodeId }) => nodeId },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.lease.load(id))),
  fields: (t) => ({
    nodeId: t.exposeID('nodeId', { description: 'The id of the node that is held.' }),
    node: t.field({
      type: WorkNode,
      description: 'The node that is held.',
      resolve: async ({ nodeId }, _args, { load }) => {
        const node = await load.node.load(nodeId);
        if (node === null) throw new Error(`the lease of ${nodeId} stands without its node`);
        return node satisfies NodeRead;
      },
    }),
    by: t.field({
      type: Person,
      description: 'Who holds it.',
      resolve: async ({ holder }, _args, { load }) => (await load.person.load(holder)) ?? stranger(holder),
    }),
    agent: t.field({
      type: Agent,
      nullable: true,
      description: "The agent of the last successful verb; null for the person's own token.",
      resolve: ({ agent }, _args, { load }) => (agent === null ? null : load.agent.load(agent)),
    }),
    session: t.exposeString('session', {
      nullable: true,
      description: 'The run it is bound to; null when any session of the holder may renew.',
    }),
    claimedAt: t.expose('claimedAt', { type: 'DateTime', description: 'When it was granted.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it lapses, unless it is renewed.' }),
    expiresInMs: t.exposeFloat('expiresInMs', { description: 'Time left when this was answered, in milliseconds.' }),
    reserved: t.exposeBoolean('reserved', {
      description: 'Whether it is a reservation, parked for its owner until the grace window ends.',
    }),
    fence: t.string({
      description: 'A decimal number that rises by every grant on the node and never repeats.',
      resolve: ({ fence }) => String(fence),
    }),
  }),
});

builder.objectField(WorkNode, 'lease', (t) =>
  t.field({
    type: Lease,
    nullable: true,
    description: 'The lease in force; null when nobody holds the node.',
    resolve: ({ nodeId }, _args, { load }) => load.lease.load(nodeId),
  }),
);

builder.queryField('lease', (t) =>
  t.field({
    type: Lease,
    nullable: true,
    description: 'The lease in force of a node; null when nobody holds it, or the tenant has no such node.',
    args: { nodeId: t.arg.id({ required: true, description: 'The id of the node.' }) },
    resolve: (_root, { nodeId }, { load }) => load.lease.load(nodeId),
  }),
);
