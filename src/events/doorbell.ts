import pg from 'pg';
import type { Logger } from 'pino';

/**
 * Tells the other replicas that there is something to read: NOTIFY without a payload, after the commit and outside of
 * its transaction, at most one under way. A ring may be lost, which costs them at most their tick; the table is the
 * truth.
 *
 * A connection of its own listens. It is asked now and then whether it is still there, since one that went silent says
 * nothing of it; until another listens, events come with the tick. It does not pass a pooler in transaction mode; then the doorbell is better off, and
 * everyone polls.
 */
export interface Doorbell {
  start(): void;
  stop(): Promise<void>;
  /** Rings, here and everywhere. */
  ring(): void;
}

export interface DoorbellParts {
  readonly url: string;
  /** Called for each ring, also for those of this replica. */
  readonly onRing: () => void;
  readonly log: Pick<Logger, 'warn'>;
}

const CHANNEL = 'holdfast_events';
const LONGEST_BACKOFF_MS = 5_000;
const LONGEST_ANSWER_MS = 3_000;
const CHECK_MS = 5_000;

export function createDoorbell({ url, onRing, log }: DoorbellParts): Doorbell {
  let line: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let connecting: Promise<void> = Promise.resolve();
  let running = false;
  let ringing = false;
  let again = false;
  let failures = 0;

  async function connect(): Promise<void> {
    const fresh = new pg.Client({
      connectionString: url,
      application_name: 'holdfast-doorbell',
      connectionTimeoutMillis: LONGEST_ANSWER_MS,
      query_timeout: LONGEST_ANSWER_MS,
      keepAlive: true,
    });
    let broken = false;
    const onBroken = (err?: unknown) => {
      if (!broken) lost(err);
      broken = true;
    };
    fresh.on('error', onBroken).on('end', onBroken).on('notification', onRing);
    try {
      await fresh.connect();
      await fresh.query(`LISTEN ${CHANNEL}`);
      if (broken) return;
      [line, failures] = [fresh, 0];
      check(fresh);
      // What was rung for while nobody listened.
      onRing();
    } catch (err) {
      onBroken(err);
      hangUp(fresh);
    }
  }

  function lost(err: unknown): void {
    line = undefined;
    clearTimeout(timer);
    if (!running) return;
    log.warn({ err }, 'the doorbell is not heard; events come with the tick until it is');
    failures += 1;
    timer = setTimeout(connectAgain, Math.min(LONGEST_BACKOFF_MS, 50 * 2 ** failures));
  }

  function connectAgain(): void {
    connecting = connect();
  }

  /** Looks from time to time whether the line still answers. */
  function check(of: pg.Client): void {
    timer = setTimeout(async () => {
      await ask(of, 'SELECT 1');
      if (line === of) check(of);
    }, CHECK_MS);
  }

  /** A line that does not answer in time is given up: another is tried. */
  async function ask(of: pg.Client, statement: string): Promise<void> {
    try {
      await of.query(statement);
    } catch {
      hangUp(of);
    }
  }

  async function send(): Promise<void> {
    do {
      again = false;
      if (line !== undefined) await ask(line, `NOTIFY ${CHANNEL}`);
    } while (again);
    ringing = false;
  }

  return {
    start() {
      running = true;
      connectAgain();
    },
    async stop() {
      running = false;
      clearTimeout(timer);
      await connecting;
      clearTimeout(timer);
      await line?.end();
    },
    ring() {
      onRing();
      again = true;
      if (ringing) return;
      ringing = true;
      void send();
    },
  };
}

/** Breaks the connection: one that went silent would not hear a goodbye. */
function hangUp(of: pg.Client): void {
  of.connection.stream.destroy();
}
