import pg from 'pg';
import type { Logger } from 'pino';

/**
 * Tells the other replicas that there is something to read: NOTIFY without a payload, after the commit and outside of
 * its transaction, at most one under way. A ring may be lost, which costs them at most their tick; the table is the
 * truth.
 *
 * A connection of its own listens. It does not pass a pooler in transaction mode; then the doorbell is better off, and
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

export function createDoorbell({ url, onRing, log }: DoorbellParts): Doorbell {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  let ringing = false;
  let again = false;
  let failures = 0;

  async function connect(): Promise<void> {
    const fresh = new pg.Client({
      connectionString: url,
      application_name: 'holdfast-doorbell',
      connectionTimeoutMillis: 3_000,
      query_timeout: 6_000,
      keepAlive: true,
    });
    let lost = false;
    const onLost = (err?: Error) => {
      if (lost) return;
      lost = true;
      if (client === fresh) client = undefined;
      fresh.end().catch(() => {});
      if (!running) return;
      log.warn({ err }, 'the doorbell is not heard; events come with the tick until it is');
      failures += 1;
      timer = setTimeout(() => void connect(), Math.min(LONGEST_BACKOFF_MS, 50 * 2 ** failures));
    };
    fresh.on('error', onLost);
    fresh.on('end', () => onLost());
    fresh.on('notification', onRing);
    try {
      await fresh.connect();
      await fresh.query(`LISTEN ${CHANNEL}`);
      failures = 0;
      client = fresh;
      // What was rung for while nobody listened.
      onRing();
    } catch (err) {
      onLost(err as Error);
    }
  }

  function send(): void {
    const to = client;
    if (to === undefined) return;
    ringing = true;
    to.query(`NOTIFY ${CHANNEL}`)
      // A connection that broke tells so by its own event, and everyone reads at the next tick.
      .catch(() => {})
      .then(() => {
        ringing = false;
        if (again) {
          again = false;
          send();
        }
      });
  }

  return {
    start() {
      running = true;
      void connect();
    },
    async stop() {
      running = false;
      clearTimeout(timer);
      await client?.end();
    },
    ring() {
      onRing();
      if (ringing) again = true;
      else send();
    },
  };
}
