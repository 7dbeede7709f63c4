import type { Logger } from 'pino';
import type { PrismaClient } from '../generated/prisma/client.ts';

/**
 * Forgets the oldest events: those beyond a count for each tenant, and those beyond an age. In small steps, each a
 * statement of its own, so that no transaction is long and no snapshot old. Readers see what is gone as a gap.
 */
export interface Retention {
  start(): void;
  /** Begins no further step, and waits for the one it is at. */
  stop(): Promise<void>;
  /** Forgets all that may be forgotten now. @returns how many events that were */
  runOnce(): Promise<number>;
}

export interface RetentionParts {
  readonly client: PrismaClient;
  /** Events that are kept for each tenant. */
  readonly mostEvents: number;
  readonly longestAgeMs: number;
  readonly log: Pick<Logger, 'warn'>;
}

const STEP = 1_000;
const TICK_MS = 60_000;

/** The next step of one tenant: from the oldest on, as far as count or age say, and not more than a step. */
const PRUNE = `
WITH oldest AS (
  SELECT e.seq, e.at FROM lease_event e WHERE e.tenant_id = $1 ORDER BY e.seq LIMIT ${STEP}
), gone AS (
  SELECT o.seq FROM oldest o, tenant t
  WHERE t.tenant_id = $1
    AND (o.seq <= t.seq - $2::bigint OR o.at < holdfast_now() - $3::bigint * interval '1 millisecond')
)
DELETE FROM lease_event e WHERE e.tenant_id = $1 AND e.seq <= (SELECT max(seq) FROM gone)`;

export function createRetention({ client, mostEvents, longestAgeMs, log }: RetentionParts): Retention {
  let timer: NodeJS.Timeout | undefined;
  let pass: Promise<void> = Promise.resolve();
  let running = true;

  async function runOnce(): Promise<number> {
    const tenants = await client.tenant.findMany({ select: { tenantId: true } });
    let forgotten = 0;
    for (const { tenantId } of tenants) {
      for (let step = STEP; step === STEP && running; forgotten += step) {
        step = await client.$executeRawUnsafe(PRUNE, tenantId, mostEvents, longestAgeMs);
      }
    }
    return forgotten;
  }

  function next(afterMs: number): void {
    if (!running) return;
    timer = setTimeout(() => {
      pass = runOnce().then(
        () => next(TICK_MS),
        (err: unknown) => {
          log.warn({ err }, 'old events were not forgotten; it is tried again');
          next(TICK_MS);
        },
      );
    }, afterMs);
  }

  return {
    runOnce,
    start() {
      running = true;
      next(TICK_MS);
    },
    async stop() {
      running = false;
      clearTimeout(timer);
      await pass;
    },
  };
}
