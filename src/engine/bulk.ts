import type { Command, PutNode } from '../lease/command.ts';
import type { NodePut, Outcome } from '../lease/outcome.ts';
import { invalidInput, type Refusal } from '../lease/refusal.ts';
import type { Engine } from './engine.ts';

/** A bulk call: the single verb for each id, answered item by item. A partial batch is reported, never rolled back. */
export interface BulkAnswer {
  /** One for each distinct id, in the order given. */
  readonly answers: readonly Answered[];
  readonly tally: BulkTally;
}

export interface Answered {
  readonly nodeId: string;
  readonly outcome: Outcome;
}

export interface BulkTally {
  /** Whether every item landed, some did, or none did. A call about nothing landed whole. */
  readonly landed: 'all' | 'some' | 'none';
  readonly count: number;
  /** The soonest end among the leases that landed, ms from now; null when there is none. */
  readonly expiresInMs: number | null;
  /** The ids whose lease was taken back on the way. */
  readonly reclaimed: readonly string[];
}

/** Whether a list of ids may be taken at all; asked before anything is done. */
export function refuseTooMany(field: string, ids: readonly unknown[], bulkMax: number): Refusal | null {
  if (ids.length <= bulkMax) return null;
  return invalidInput(
    field,
    `${field} has ${ids.length} entries, and one call takes ${bulkMax}. Send the rest in further calls.`,
  );
}

/** Runs the verb for each distinct id. Exact match only: what differs in a letter is another id. */
export async function executeBulk(
  engine: Engine,
  tenantId: string,
  ids: readonly string[],
  command: (nodeId: string) => Command,
): Promise<BulkAnswer> {
  const distinct = [...new Set(ids)];
  const outcomes = await engine.execute(tenantId, distinct.map(command));
  const answers = distinct.map((nodeId, index) => ({ nodeId, outcome: outcomes[index] as Outcome }));
  return { answers, tally: tallyOf(answers) };
}

export function tallyOf(answers: readonly Answered[]): BulkTally {
  const landed = answers.filter(({ outcome }) => outcome.kind !== 'refused');
  const held = landed.flatMap(({ outcome }) => (outcome.kind === 'held' ? [outcome] : []));
  return {
    landed: landed.length === answers.length ? 'all' : landed.length === 0 ? 'none' : 'some',
    count: landed.length,
    expiresInMs:
      held.length === 0 ? null : held.reduce((least, { lease }) => Math.min(least, lease.expiresInMs), Infinity),
    reclaimed: held.filter(({ reclaimed }) => reclaimed).map(({ lease }) => lease.nodeId),
  };
}

/** What became of each entry: those that could not be read fail with their reason, the others are put in order. */
export async function putNodes(
  engine: Engine,
  tenantId: string,
  entries: readonly (PutNode | { readonly error: string })[],
): Promise<readonly Pick<NodePut, 'status' | 'error'>[]> {
  const outcomes = await engine.execute(
    tenantId,
    entries.filter((entry): entry is PutNode => !('error' in entry)),
  );
  let next = 0;
  return entries.map((entry) => {
    if ('error' in entry) return { status: 'failed', error: entry.error };
    const outcome = outcomes[next++];
    if (outcome?.kind !== 'node-put') throw new Error(`put-node answered ${outcome?.kind}`);
    return outcome;
  });
}
