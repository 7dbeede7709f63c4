import { GraphQLError } from 'graphql';
import { type Answered, executeBulk, refuseTooMany, tallyOf } from '../engine/bulk.ts';
import { type HeldAnswers, releaseHeld, renewHeld } from '../engine/held.ts';
import { callerOf } from '../identity/authenticate.ts';
import { refuseMalformed } from '../lease/check-input.ts';
import type { Command } from '../lease/command.ts';
import type { Refusal } from '../lease/refusal.ts';
import { readPolicy } from '../read/policy.ts';
import { builder } from './builder.ts';
import { type BulkResult, bulkPayload } from './bulk-payload.ts';
import type { GraphqlContext } from './context.ts';
import { nodeIdsField, sessionField } from './input-fields.ts';
import {
  ClaimLeaseResult,
  ExtendLeaseResult,
  ReleaseLeaseResult,
  RenewLeaseResult,
  ReserveLeaseResult,
} from './results.ts';

/** The verbs on many nodes: one answer for each distinct id. Each item is decided as the single verb would. */
const idsAndSession = (name: string, description: string) =>
  builder.inputType(name, { description, fields: (t) => ({ nodeIds: nodeIdsField(t), session: sessionField(t) }) });

const ClaimLeasesInput = idsAndSession('ClaimLeasesInput', 'Which nodes to take, and for which run.');
const RenewLeasesInput = idsAndSession('RenewLeasesInput', 'Which leases to renew.');
const ReserveLeasesInput = idsAndSession('ReserveLeasesInput', 'Which nodes to park.');

const ExtendLeasesInput = builder.inputType('ExtendLeasesInput', {
  description: 'Which leases to stretch, and how far.',
  fields: (t) => ({
    nodeIds: nodeIdsField(t),
    ms: t.float({
      required: true,
      description: 'How much further, in milliseconds: above 0; fractions are rounded up.',
    }),
    session: sessionField(t),
  }),
});

const ReleaseLeasesInput = builder.inputType('ReleaseLeasesInput', {
  description: 'Which nodes to hand back.',
  fields: (t) => ({ nodeIds: nodeIdsField(t) }),
});

const heldInput = (name: string, description: string) =>
  builder.inputType(name, {
    description,
    fields: (t) => ({
      session: t.string({ description: 'Only leases bound to exactly this run; others are skipped and counted.' }),
      project: t.string({ description: 'Only leases of nodes in this project; others are skipped and counted.' }),
    }),
  });

const RenewHeldLeasesInput = heldInput('RenewHeldLeasesInput', 'Which of the leases the caller holds to renew.');
const ReleaseHeldLeasesInput = heldInput(
  'ReleaseHeldLeasesInput',
  'Which of the leases the caller holds to hand back.',
);

const ClaimLeasesPayload = bulkPayload('ClaimLeasesPayload', 'The answer of a bulk claim.', ClaimLeaseResult);
const RenewLeasesPayload = bulkPayload('RenewLeasesPayload', 'The answer of a bulk heartbeat.', RenewLeaseResult);
const ExtendLeasesPayload = bulkPayload('ExtendLeasesPayload', 'The answer of a bulk extension.', ExtendLeaseResult);
const ReserveLeasesPayload = bulkPayload(
  'ReserveLeasesPayload',
  'The answer of a bulk reservation.',
  ReserveLeaseResult,
);
const ReleaseLeasesPayload = bulkPayload('ReleaseLeasesPayload', 'The answer of a bulk release.', ReleaseLeaseResult);
const RenewHeldLeasesPayload = bulkPayload(
  'RenewHeldLeasesPayload',
  'The heartbeat of all that is held.',
  RenewLeaseResult,
);
const ReleaseHeldLeasesPayload = bulkPayload(
  'ReleaseHeldLeasesPayload',
  'The drain of all that is held.',
  ReleaseLeaseResult,
);

/** Runs the verb for each id. A call that is malformed as a whole does nothing. */
async function bulk(
  context: GraphqlContext,
  word: BulkResult['word'],
  ids: readonly string[],
  command: (nodeId: string) => Command,
): Promise<BulkResult> {
  const { identity, engine, reads } = context;
  const { bulkMax } = await readPolicy(reads, identity.tenantId, null);
  // What is the same for every item refuses the call; only ids are the items' own.
  refuseCall(refuseTooMany('nodeIds', ids, bulkMax) ?? refuseMalformed(command('any')));
  const { answers, tally } = await executeBulk(engine, identity.tenantId, ids, command);
  return { word, answers, tally, skipped: NOTHING_SKIPPED };
}

const NOTHING_SKIPPED = { project: 0, session: 0, reserved: 0 };

type HeldVerb = typeof renewHeld | typeof releaseHeld;
interface HeldInput {
  readonly session?: string | null | undefined;
  readonly project?: string | null | undefined;
}

async function held(
  context: GraphqlContext,
  word: BulkResult['word'],
  verb: HeldVerb,
  input: HeldInput,
): Promise<BulkResult> {
  const { identity, engine, reads } = context;
  const caller = callerOf(identity);
  const session = input.session ?? null;
  refuseCall(refuseMalformed({ verb: 'renew', nodeId: 'any', caller, session, fence: null }));
  const { answers, skipped } = await verb(engine, reads, identity.tenantId, caller, {
    session,
    project: input.project ?? null,
  });
  const told = word === 'RELEASED' ? answers.filter(ended) : answers;
  return { word, answers: told, tally: tallyOf(told), skipped } satisfies BulkResult & {
    skipped: HeldAnswers['skipped'];
  };
}

/** A drain tells what it released; what was gone before it came is nothing of the caller's. */
function ended({ outcome }: Answered): boolean {
  return outcome.kind === 'released' && outcome.ended;
}

function refuseCall(refusal: Refusal | null): void {
  if (refusal === null) return;
  const { field } = refusal;
  throw new GraphQLError(refusal.message, {
    extensions: { code: 'INVALID_INPUT', ...(field !== undefined && { field }) },
  });
}

builder.mutationFields((t) => ({
  claimLeases: t.field({
    type: ClaimLeasesPayload,
    nullable: true,
    description: 'Takes a working set of nodes. A partial batch is reported, never rolled back.',
    args: { input: t.arg({ type: ClaimLeasesInput, required: true, description: 'Which nodes.' }) },
    resolve: (_root, { input: { nodeIds, session } }, context) =>
      bulk(context, 'CLAIMED', nodeIds, (nodeId) => ({
        ...{
          verb: 'claim',
          nodeId,
          caller: callerOf(context.identity),
          session: session ?? null,
          dispatch: null,
          force: false,
        },
      })),
  }),
  renewLeases: t.field({
    type: RenewLeasesPayload,
    nullable: true,
    description: 'Renews exactly these leases, and takes back those that lapsed.',
    args: { input: t.arg({ type: RenewLeasesInput, required: true, description: 'Which leases.' }) },
    resolve: (_root, { input: { nodeIds, session } }, context) =>
      bulk(context, 'RENEWED', nodeIds, (nodeId) => ({
        ...{ verb: 'renew', nodeId, caller: callerOf(context.identity), session: session ?? null, fence: null },
      })),
  }),
  extendLeases: t.field({
    type: ExtendLeasesPayload,
    nullable: true,
    description: 'Moves the end of each of these leases, at most to the ceiling.',
    args: { input: t.arg({ type: ExtendLeasesInput, required: true, description: 'Which leases, and how far.' }) },
    resolve: (_root, { input: { nodeIds, ms, session } }, context) =>
      bulk(context, 'EXTENDED', nodeIds, (nodeId) => ({
        ...{ verb: 'extend', nodeId, caller: callerOf(context.identity), ms, session: session ?? null, fence: null },
      })),
  }),
  reserveLeases: t.field({
    type: ReserveLeasesPayload,
    nullable: true,
    description: 'Parks each of these nodes for the caller until the grace window ends.',
    args: { input: t.arg({ type: ReserveLeasesInput, required: true, description: 'Which nodes.' }) },
    resolve: (_root, { input: { nodeIds, session } }, context) =>
      bulk(context, 'RESERVED', nodeIds, (nodeId) => ({
        ...{ verb: 'reserve', nodeId, caller: callerOf(context.identity), session: session ?? null, fence: null },
      })),
  }),
  releaseLeases: t.field({
    type: ReleaseLeasesPayload,
    nullable: true,
    description: 'Hands each of these nodes back.',
    args: { input: t.arg({ type: ReleaseLeasesInput, required: true, description: 'Which nodes.' }) },
    resolve: (_root, { input: { nodeIds } }, context) =>
      bulk(context, 'RELEASED', nodeIds, (nodeId) => ({
        ...{ verb: 'release', nodeId, caller: callerOf(context.identity), fence: null },
      })),
  }),
  renewHeldLeases: t.field({
    type: RenewHeldLeasesPayload,
    nullable: true,
    description: 'The heartbeat of everything the caller holds. Never takes anything back; reservations stay parked.',
    args: { input: t.arg({ type: RenewHeldLeasesInput, description: 'Which of them; all when left out.' }) },
    resolve: (_root, { input }, context) => held(context, 'RENEWED', renewHeld, input ?? {}),
  }),
  releaseHeldLeases: t.field({
    type: ReleaseHeldLeasesPayload,
    nullable: true,
    description: 'Hands back everything the caller holds, reservations too.',
    args: { input: t.arg({ type: ReleaseHeldLeasesInput, description: 'Which of them; all when left out.' }) },
    resolve: (_root, { input }, context) => held(context, 'RELEASED', releaseHeld, input ?? {}),
  }),
}));
