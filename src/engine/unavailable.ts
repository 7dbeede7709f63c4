/**
 * An outage, as callers see it: nothing is known to be wrong with the call, and it is safe to repeat. Every verb is,
 * also when its answer was lost.
 */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  /** When to try again, in ms. */
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs = 1_000, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The database can't be reached, and nothing was done. */
export function databaseOutage(cause: unknown): Unavailable {
  return new Unavailable('The database is out of reach. Nothing was done; repeat the call.', 1_000, { cause });
}

/**
 * The database can't be reached outside of a batch: by a read that completes the answer of a batch that stands, or by a
 * write whose own answer was lost. So nothing is said of what was done.
 */
export function outageOnTheWay(cause: unknown): Unavailable {
  const message = 'The database did not answer. The call may be done or not; it is safe to repeat.';
  return new Unavailable(message, 1_000, { cause });
}
