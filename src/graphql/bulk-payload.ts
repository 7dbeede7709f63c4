import type { Answered, BulkTally } from '../engine/bulk.ts';
import type { HeldAnswers } from '../engine/held.ts';
import { builder } from './builder.ts';
import { BulkStatus } from './enums.ts';
import { type ResultUnion, toResult } from './results.ts';

/** The payload of every bulk verb: one shape, its results of the single verb's union. */
export interface BulkResult {
  /** The status when every item landed. */
  readonly word: 'CLAIMED' | 'RENEWED' | 'EXTENDED' | 'RESERVED' | 'RELEASED';
  readonly answers: readonly Answered[];
  readonly tally: BulkTally;
  readonly skipped: HeldAnswers['skipped'];
}

export function bulkPayload(name: string, description: string, result: ResultUnion) {
  return builder.objectRef<BulkResult>(name).implement({
    description,
    fields: (t) => ({
      status: t.field({
        type: BulkStatus,
        description: 'The verb when every item landed, PARTIAL when some did, REFUSED when none did.',
        resolve: ({ word, tally }) => (tally.landed === 'all' ? word : tally.landed === 'some' ? 'PARTIAL' : 'REFUSED'),
      }),
      count: t.int({ description: 'How many items landed.', resolve: ({ tally }) => tally.count }),
      expiresInMs: t.float({
        nullable: true,
        description:
          'Time until the soonest end among the leases that landed, in milliseconds; null when there is none.',
        resolve: ({ tally }) => tally.expiresInMs,
      }),
      results: t.field({
        type: [result],
        description: 'One for each distinct id, in the order given.',
        resolve: ({ answers }) => answers.map(({ nodeId, outcome }) => toResult(nodeId, outcome)),
      }),
      reclaimed: t.idList({
        description: 'The ids whose lease had lapsed, or never was, and was taken on the way.',
        resolve: ({ tally }) => [...tally.reclaimed],
      }),
      skippedOtherSession: t.int({
        description: 'Leases left out because they are bound to another run or to none.',
        resolve: ({ skipped }) => skipped.session,
      }),
      skippedReserved: t.int({
        description: 'Reservations left parked.',
        resolve: ({ skipped }) => skipped.reserved,
      }),
      skippedOtherProject: t.int({
        description: 'Leases left out because their nodes are in another project.',
        resolve: ({ skipped }) => skipped.project,
      }),
    }),
  });
}
