import { NotBegun, StatementFailed } from './transaction.ts';

/**
 * What to do about a batch that was rolled back.
 * - again: the server's state or the connection was in the way; the same batch may well pass.
 * - culprit: one of the commands carries a value the database can't take; the others should not pay for it.
 * - fault: a mistake of ours.
 */
export type Remedy = 'again' | 'culprit' | 'fault';

/** SQLSTATEs and classes after which the same batch may pass. */
const PASSING = [
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55P03', // lock_not_available: lock_timeout
  '57014', // query_canceled: statement_timeout
  '08', // connection exceptions
  '57P', // operator intervention: shutdown, crash, idle limits
  '25P03', // idle_in_transaction_session_timeout
  '53', // insufficient resources
];

/** Data exceptions and broken constraints. */
const CULPRITS = ['22', '23'];

export function remedyFor(error: unknown): Remedy {
  if (error instanceof NotBegun) return 'again';
  if (!(error instanceof StatementFailed)) return 'fault';
  const state = sqlState(error.cause);
  // A lost connection comes without a code.
  if (state === null || PASSING.some((prefix) => state.startsWith(prefix))) return 'again';
  return CULPRITS.some((prefix) => state.startsWith(prefix)) ? 'culprit' : 'fault';
}

/** The SQLSTATE of a driver's error, wherever Prisma keeps it; null when the server never spoke. */
export function sqlState(error: unknown): string | null {
  const cause = at(at(at(error, 'meta'), 'driverAdapterError'), 'cause') ?? at(error, 'cause');
  const code = at(cause, 'originalCode') ?? at(cause, 'code');
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code) ? code : null;
}

function at(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}

/** How often the same batch is tried again before its callers get 503. */
export const MOST_RETRIES = 3;

/** A pause before the next try, ms, with jitter so that two batches do not meet again in step. */
export function pauseBeforeRetry(attempt: number): number {
  return (5 << attempt) * (0.5 + Math.random());
}
