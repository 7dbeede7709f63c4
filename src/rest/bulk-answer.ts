import { z } from 'zod';
import { type Answered, tallyOf } from '../engine/bulk.ts';
import type { Refusal } from '../lease/refusal.ts';
import { leasesIn, namesOf, type RestContext, type RestParts } from './door.ts';
import { lease, leaseJson } from './wire.ts';

/** The answers of the bulk verbs: ids that landed, and under `failed` what did not and why. */
const failed = z
  .object({
    node_id: z.string().describe('The id as the caller wrote it.'),
    code: z
      .enum([
        ...(['already_claimed', 'lease_lost', 'not_found', 'not_ready'] as const),
        ...(['invalid_node', 'invalid_id', 'limit_reached'] as const),
      ])
      .describe('The reason, for programs.'),
    message: z.string().describe('The reason, for people.'),
    holder: lease.optional().describe('The lease in force that stands in the way.'),
  })
  .meta({ id: 'FailedItem', description: 'An id that did not land.' });

const ids = z.array(z.string());
const bulk = z.object({
  ok: z.literal(true).describe('Always true: the call was well formed. What became of its items is told below.'),
  count: z.int().describe('How many landed.'),
  leases: z.array(lease).describe('The leases of the ids that landed, in the same order.'),
  failed: z.array(failed).describe('What did not land, in the order given.'),
  expires_in_ms: z
    .int()
    .optional()
    .describe('Time until the soonest end among the leases that landed, milliseconds; absent when none did.'),
});
const reclaimed = ids.optional().describe('The ids that nobody held, so that they were taken back; absent when none.');
const landed = (word: 'claimed' | 'renewed') =>
  z.enum([word, 'partial', 'refused']).describe(`\`${word}\` when every id landed, \`refused\` when none did.`);
const skipped = (why: string) =>
  z.int().optional().describe(`How many leases of the caller were left out because ${why}; absent when none.`);

export const claimedMany = bulk
  .extend({ status: landed('claimed'), claimed: ids.describe('The ids that landed, in the order given.') })
  .meta({ id: 'ClaimedMany', description: 'What became of each id.' });
export const renewedMany = bulk
  .extend({
    status: landed('renewed'),
    renewed: ids.describe('The ids that landed, in the order given.'),
    reclaimed,
    skipped_other_session: skipped('they are bound to another session, or to none'),
    skipped_reserved: skipped('they are reservations'),
    skipped_other_project: skipped('their node is in another project'),
  })
  .meta({ id: 'RenewedMany', description: 'What became of each id, or of each lease that the caller held.' });
export const releasedMany = z
  .object({
    ok: z.literal(true).describe('Always true.'),
    status: z.literal('released').describe('What was done.'),
    released: ids.describe('The ids of the nodes that were given back.'),
    count: z.int().describe('How many they are.'),
  })
  .meta({ id: 'ReleasedMany', description: 'What the caller held, and holds no more.' });

type BulkJson<Word extends 'claimed' | 'renewed'> = z.output<typeof bulk> & {
  status: Word | 'partial' | 'refused';
} & Record<Word, string[]>;

/** What an item of a list calls a refusal where the single verb has another word. */
const BULK_CODES: Readonly<Partial<Record<Refusal['code'], string>>> = {
  conflict: 'already_claimed',
  invalid_input: 'invalid_id',
};

export async function bulkJson<Word extends 'claimed' | 'renewed'>(
  parts: RestParts,
  c: RestContext,
  answers: readonly Answered[],
  word: Word,
): Promise<BulkJson<Word>> {
  const shown = answers.flatMap(({ outcome }) => leasesIn(outcome));
  const names = await namesOf(parts, c.get('identity'), shown);
  const tally = tallyOf(answers);
  const held = answers.flatMap(({ outcome }) => (outcome.kind === 'held' ? [outcome] : []));
  const refused = answers.flatMap(({ nodeId, outcome }) => (outcome.kind === 'refused' ? [{ nodeId, outcome }] : []));
  const answer = {
    ok: true,
    status: tally.landed === 'all' ? word : tally.landed === 'some' ? 'partial' : 'refused',
    count: tally.count,
    [word]: held.map(({ lease: { nodeId } }) => nodeId),
    leases: held.map((outcome) => leaseJson(outcome.lease, names)),
    failed: refused.map(({ nodeId, outcome: { code, message, holder } }) => ({
      ...{ node_id: nodeId, code: BULK_CODES[code] ?? code, message },
      ...(holder !== null && { holder: leaseJson(holder, names) }),
    })),
    ...(tally.expiresInMs !== null && { expires_in_ms: tally.expiresInMs }),
    ...(tally.reclaimed.length > 0 && { reclaimed: [...tally.reclaimed] }),
  };
  return answer as unknown as BulkJson<Word>;
}
