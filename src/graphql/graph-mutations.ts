import { AdminFault } from '../identity/admin-fault.ts';
import { callerOf } from '../identity/authenticate.ts';
import type { Command } from '../lease/command.ts';
import type { Broken, EdgeSet } from '../lease/outcome.ts';
import type { Refusal } from '../lease/refusal.ts';
import { requireAdmin } from './admin.ts';
import { builder } from './builder.ts';
import type { GraphqlContext } from './context.ts';
import { EdgeChange } from './enums.ts';
import { Lease } from './lease.ts';

/** Edges by hand, and ending another's lease; for admin tokens only. Refusals are top-level errors here. */
const edgeInput = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({
      from: t.id({ required: true, description: 'The id of the node where the edge begins.' }),
      type: t.string({ required: true, description: 'The relation, such as blocks.' }),
      to: t.id({ required: true, description: 'The id where it ends, which need not exist yet.' }),
    }),
  });

const AddEdgeInput = edgeInput('AddEdgeInput', 'Which edge to write.');
const RemoveEdgeInput = edgeInput('RemoveEdgeInput', 'Which edge to take away.');

const edgePayload = (name: string, description: string, done: 'ADDED' | 'REMOVED') =>
  builder.objectRef<EdgeSet & { readonly nodeId: string }>(name).implement({
    description,
    fields: (t) => ({
      nodeId: t.exposeID('nodeId', { description: 'The id of the node where the edge begins.' }),
      edge: t.field({
        type: EdgeChange,
        description: 'What happened; SKIPPED when there was nothing to do.',
        resolve: ({ status }) => (status === 'updated' ? done : 'SKIPPED'),
      }),
      revision: t.string({
        description: 'The revision of the node after it.',
        resolve: ({ revision }) => String(revision),
      }),
    }),
  });

const AddEdgePayload = edgePayload('AddEdgePayload', 'The edge is there.', 'ADDED');
const RemoveEdgePayload = edgePayload('RemoveEdgePayload', 'The edge is not there.', 'REMOVED');

const BreakLeaseInput = builder.inputType('BreakLeaseInput', {
  description: 'Whose lease to end, and why.',
  fields: (t) => ({
    nodeId: t.id({ required: true, description: 'The id of the node.' }),
    reason: t.string({ description: 'Why, for its holder and for the history: a line of at most 1000 characters.' }),
  }),
});

const BreakLeasePayload = builder.objectRef<Broken & { readonly nodeId: string }>('BreakLeasePayload').implement({
  description: 'The node is free.',
  fields: (t) => ({
    nodeId: t.exposeID('nodeId', { description: 'The id of the node.' }),
    lease: t.field({
      type: Lease,
      nullable: true,
      description: 'The lease that was ended, as it last was; null when nobody held the node.',
      resolve: ({ lease }) => lease,
    }),
  }),
});

/** Runs a command of an admin; a refusal is a fault of the call. */
async function run<K extends 'edge-set' | 'broken'>(context: GraphqlContext, command: Command, kind: K) {
  const { tenantId } = requireAdmin(context);
  const outcome = await context.engine.executeOne(tenantId, command);
  if (outcome.kind === 'refused') throw toFault(outcome);
  if (outcome.kind !== kind) throw new Error(`${command.verb} answered ${outcome.kind}`);
  return { ...(outcome as Extract<typeof outcome, { kind: K }>), nodeId: command.nodeId };
}

function toFault({ code, message }: Refusal): AdminFault {
  return new AdminFault(
    code === 'not_found' ? 'NOT_FOUND' : code === 'conflict' ? 'CONFLICT' : 'INVALID_INPUT',
    message,
  );
}

builder.mutationFields((t) => ({
  addEdge: t.field({
    type: AddEdgePayload,
    nullable: true,
    description: 'Writes an edge. Needs admin rights. Safe to repeat. Errors: NOT_FOUND, INVALID_INPUT.',
    args: { input: t.arg({ type: AddEdgeInput, required: true, description: 'Which edge.' }) },
    resolve: (_root, { input: { from, type, to } }, context) => {
      const caller = callerOf(context.identity);
      return run(context, { verb: 'add-edge', nodeId: from, caller, edge: { from, type, to } }, 'edge-set');
    },
  }),
  removeEdge: t.field({
    type: RemoveEdgePayload,
    nullable: true,
    description:
      'Takes an edge away, but for the assigned edge of a lease in force. Needs admin rights. Safe to repeat. Errors: NOT_FOUND, CONFLICT, INVALID_INPUT.',
    args: { input: t.arg({ type: RemoveEdgeInput, required: true, description: 'Which edge.' }) },
    resolve: (_root, { input: { from, type, to } }, context) => {
      const caller = callerOf(context.identity);
      return run(context, { verb: 'remove-edge', nodeId: from, caller, edge: { from, type, to } }, 'edge-set');
    },
  }),
  breakLease: t.field({
    type: BreakLeasePayload,
    nullable: true,
    description:
      "Ends another's lease at once, edge included. Needs admin rights. Safe to repeat. Errors: NOT_FOUND, INVALID_INPUT.",
    args: { input: t.arg({ type: BreakLeaseInput, required: true, description: 'Which lease, and why.' }) },
    resolve: (_root, { input: { nodeId, reason } }, context) =>
      run(context, { verb: 'break', nodeId, caller: callerOf(context.identity), reason: reason ?? null }, 'broken'),
  }),
}));
