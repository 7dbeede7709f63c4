/**
 * Whether an error says that the database was out of reach or in the way, rather than that something is wrong with the
 * statement: the same call may well pass later.
 */
export function isOutage(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== null) return PASSING.some((prefix) => state.startsWith(prefix));
  const codes = [at(error, 'code'), at(driverCause(error), 'kind'), at(at(error, 'cause'), 'code')];
  return (
    codes.some((code) => typeof code === 'string' && LOST.has(code)) || LOST_MESSAGE.test(String(at(error, 'message')))
  );
}

/** SQLSTATEs and classes after which the same call may pass. */
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

/** What Prisma, its adapter and the system call a connection that is not there. */
const LOST = new Set([
  ...['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028'],
  ...['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections', 'TransactionAlreadyClosed'],
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOENT', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'],
]);

/** The driver tells of a broken connection without a code. */
const LOST_MESSAGE =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable|connection error|Can't reach database/i;

/** The SQLSTATE of an error, wherever Prisma keeps it; null when the server never spoke. */
export function sqlState(error: unknown): string | null {
  const cause = driverCause(error);
  const code = at(cause, 'originalCode') ?? at(cause, 'code');
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^[EP][A-Z]{4}$|^P\d{4}$/.test(code) ? code : null;
}

function driverCause(error: unknown): unknown {
  return at(at(at(error, 'meta'), 'driverAdapterError'), 'cause') ?? at(error, 'cause');
}

function at(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
