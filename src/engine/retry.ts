import { isOutage, sqlState } from '../db/outage.ts';
import { NotBegun, StatementFailed } from './transaction.ts';

/**
 * What to do about a batch that was rolled back.
 * - again: the server's state or the connection was in the way; the same batch may well pass.
 * - culprit: one of the commands carries a value the database can't take; the others should not pay for it.
 * - fault: a mistake of ours.
 */
export type Remedy = 'again' | 'culprit' | 'fault';

/** Data exceptions and broken constraints. */
const CULPRITS = ['22', '23'];

export function remedyFor(error: unknown): Remedy {
  if (error instanceof NotBegun) return 'again';
  if (!(error instanceof StatementFailed)) return 'fault';
  const state = sqlState(error.cause);
  // A statement fails without a state only when the connection is lost.
  if (state === null || isOutage(error.cause)) return 'again';
  return CULPRITS.some((prefix) => state.startsWith(prefix)) ? 'culprit' : 'fault';
}

/** How often the same batch is tried again before its callers get 503. */
export const MOST_RETRIES = 3;

/**
 * No try begins after this, ms. Where nothing answers at all each try takes a whole limit of the connection; one such
 * wait, of 6 s, leaves room for one more try, which is enough for heartbeats whose connection was lost in silence.
 */
export const LONGEST_RETRYING_MS = 7_000;

/** A pause before the next try, ms, with jitter so that two batches do not meet again in step. */
export function pauseBeforeRetry(attempt: number): number {
  return (5 << attempt) * (0.5 + Math.random());
}
