import { callerOf } from '../identity/authenticate.ts';
import type { StatusSet } from '../lease/outcome.ts';
import { builder } from './builder.ts';
import { VerbStatus } from './enums.ts';
import { nodeIdField } from './input-fields.ts';
import { REFUSAL_TYPES, type RefusedItem } from './refusal.ts';
import { ClaimLeaseResult, toResult } from './results.ts';
import { WorkNode } from './work-node.ts';

/** Setting a node's status. */
const SetNodeStatusInput = builder.inputType('SetNodeStatusInput', {
  description: 'Which node to set to what.',
  fields: (t) => ({
    nodeId: nodeIdField(t),
    status: t.string({ required: true, description: 'The new status, a word of the vocabulary of its type.' }),
  }),
});

interface StatusItem {
  readonly nodeId: string;
  readonly set: StatusSet;
}

const SetNodeStatusSuccess = builder.objectRef<StatusItem>('SetNodeStatusSuccess').implement({
  description: 'The status stands, whatever became of the claim.',
  fields: (t) => ({
    status: t.field({
      type: VerbStatus,
      description: 'What the verb did: UPDATED.',
      resolve: () => 'UPDATED' as const,
    }),
    nodeId: t.exposeID('nodeId', { description: 'The id of the node.' }),
    revision: t.string({
      description: 'The revision of the node after it.',
      resolve: ({ set }) => String(set.revision),
    }),
    node: t.field({
      type: WorkNode,
      description: 'The node after it.',
      resolve: async ({ nodeId }, _args, { load }) => {
        const node = await load.node.load(nodeId);
        if (node === null) throw new Error(`${nodeId} is gone though its status was just set`);
        return node;
      },
    }),
    warnings: t.stringList({ description: 'What the caller should know.', resolve: ({ set }) => [...set.warnings] }),
    claim: t.field({
      type: ClaimLeaseResult,
      nullable: true,
      description: 'The claim that an active status makes; null for other statuses and for types without a lease.',
      resolve: ({ nodeId, set }) => (set.claim === null ? null : toResult(nodeId, set.claim)),
    }),
  }),
});

const REFUSALS = ['not_found', 'transition_denied', 'invalid_input'] as const;

const SetNodeStatusResult = builder.unionType('SetNodeStatusResult', {
  description: 'The answer of a status change.',
  types: [SetNodeStatusSuccess, ...REFUSALS.map((code) => REFUSAL_TYPES[code])],
  resolveType: (item: StatusItem | RefusedItem) =>
    'refusal' in item ? REFUSAL_TYPES[item.refusal.code].name : SetNodeStatusSuccess.name,
});

builder.mutationField('setNodeStatus', (t) =>
  t.field({
    type: SetNodeStatusResult,
    nullable: true,
    description:
      'Sets the status of a node; an active status claims it for the caller with the same lease as claimLease.',
    args: { input: t.arg({ type: SetNodeStatusInput, required: true, description: 'Which node, and what.' }) },
    resolve: async (_root, { input: { nodeId, status } }, { engine, identity }) => {
      const outcome = await engine.executeOne(identity.tenantId, {
        verb: 'set-status',
        nodeId,
        caller: callerOf(identity),
        status,
      });
      if (outcome.kind === 'status-set') return { nodeId, set: outcome };
      if (outcome.kind === 'refused') return { nodeId, refusal: outcome };
      throw new Error(`set-status answered ${outcome.kind}`);
    },
  }),
);
