import { callerOf } from '../identity/authenticate.ts';
import type { Caller, Command } from '../lease/command.ts';
import { isRefusal } from '../lease/guard.ts';
import { builder } from './builder.ts';
import type { GraphqlContext } from './context.ts';
import { fenceField, nodeIdField, parseFence, sessionField } from './input-fields.ts';
import {
  ClaimLeaseResult,
  ExtendLeaseResult,
  ReleaseLeaseResult,
  RenewLeaseResult,
  ReserveLeaseResult,
  type ResultItem,
  toResult,
} from './results.ts';

/** The verbs on one node. */
const ClaimLeaseInput = builder.inputType('ClaimLeaseInput', {
  description: 'Which node to take, and for which run.',
  fields: (t) => ({
    nodeId: nodeIdField(t),
    session: sessionField(t),
    dispatch: t.string({ description: 'The nonce of one agent launch; keeps two launches of one person apart.' }),
    force: t.boolean({
      description: 'Replace an earlier launch of the caller: a new fence, and the earlier run is told.',
    }),
  }),
});

const heartbeatInput = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({ nodeId: nodeIdField(t), session: sessionField(t), fence: fenceField(t) }),
  });

const RenewLeaseInput = heartbeatInput('RenewLeaseInput', 'Which lease to renew.');
const ReserveLeaseInput = heartbeatInput('ReserveLeaseInput', 'Which node to park.');

const ExtendLeaseInput = builder.inputType('ExtendLeaseInput', {
  description: 'Which lease to stretch, and how far.',
  fields: (t) => ({
    nodeId: nodeIdField(t),
    ms: t.float({
      required: true,
      description: 'How much further, in milliseconds: above 0; fractions are rounded up.',
    }),
    session: sessionField(t),
    fence: fenceField(t),
  }),
});

const ReleaseLeaseInput = builder.inputType('ReleaseLeaseInput', {
  description: 'Which node to hand back.',
  fields: (t) => ({ nodeId: nodeIdField(t), fence: fenceField(t) }),
});

interface Fenced {
  readonly nodeId: string;
  readonly fence?: string | null | undefined;
}

/** Runs a verb that takes a fence; a fence of the wrong form is refused before anything else is asked. */
function fenced(
  context: GraphqlContext,
  { nodeId, fence }: Fenced,
  command: (caller: Caller, fence: bigint | null) => Command,
) {
  const read = parseFence(fence);
  if (typeof read === 'object' && read !== null && isRefusal(read)) return toResult(nodeId, read);
  return run(context, command(callerOf(context.identity), read));
}

async function run({ engine, identity }: GraphqlContext, command: Command): Promise<ResultItem> {
  return toResult(command.nodeId, await engine.executeOne(identity.tenantId, command));
}

builder.mutationFields((t) => ({
  claimLease: t.field({
    type: ClaimLeaseResult,
    nullable: true,
    description: 'Takes a free node, or renews an own lease. Writes the durable assigned edge once.',
    args: { input: t.arg({ type: ClaimLeaseInput, required: true, description: 'Which node, and for which run.' }) },
    resolve: (_root, { input: { nodeId, session, dispatch, force } }, context) =>
      run(context, {
        verb: 'claim',
        nodeId,
        caller: callerOf(context.identity),
        session: session ?? null,
        dispatch: dispatch ?? null,
        force: force ?? false,
      }),
  }),
  renewLease: t.field({
    type: RenewLeaseResult,
    nullable: true,
    description: 'The heartbeat. Takes a node back that is free or lapsed, unless a fence is given.',
    args: { input: t.arg({ type: RenewLeaseInput, required: true, description: 'Which lease.' }) },
    resolve: (_root, { input }, context) =>
      fenced(context, input, (caller, fence) => ({
        ...{ verb: 'renew', nodeId: input.nodeId, caller, session: input.session ?? null, fence },
      })),
  }),
  extendLease: t.field({
    type: ExtendLeaseResult,
    nullable: true,
    description:
      'Moves the end of the lease for a known long idle gap, at most to the ceiling. Never shortens a lease.',
    args: { input: t.arg({ type: ExtendLeaseInput, required: true, description: 'Which lease, and how far.' }) },
    resolve: (_root, { input }, context) =>
      fenced(context, input, (caller, fence) => ({
        ...{ verb: 'extend', nodeId: input.nodeId, caller, ms: input.ms, session: input.session ?? null, fence },
      })),
  }),
  reserveLease: t.field({
    type: ReserveLeaseResult,
    nullable: true,
    description:
      'Parks the node for the caller until the grace window ends, for a run that ends with the work unfinished.',
    args: { input: t.arg({ type: ReserveLeaseInput, required: true, description: 'Which node.' }) },
    resolve: (_root, { input }, context) =>
      fenced(context, input, (caller, fence) => ({
        ...{ verb: 'reserve', nodeId: input.nodeId, caller, session: input.session ?? null, fence },
      })),
  }),
  releaseLease: t.field({
    type: ReleaseLeaseResult,
    nullable: true,
    description: "Hands the node back: drops the lease and the caller's assigned edge. Safe to repeat.",
    args: { input: t.arg({ type: ReleaseLeaseInput, required: true, description: 'Which node.' }) },
    resolve: (_root, { input }, context) =>
      fenced(context, input, (caller, fence) => ({ verb: 'release', nodeId: input.nodeId, caller, fence })),
  }),
}));
