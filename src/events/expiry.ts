import type { Logger } from 'pino';
import type { Engine } from '../engine/engine.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Expire } from '../lease/command.ts';

/**
 * Ends leases that have lapsed, so that their ending is told in time. Correctness never depends on it: every verb and
 * every read compares a lease's end with now.
 *
 * One timer waits for the soonest look, at most a second, so that leases granted by other replicas are seen. What is due
 * goes through the one door as `expire`, which looks again under the lock: a lease that lapsed ends by one EXPIRED, one
 * that was renewed only has its next look moved, one that another replica ended is left. No leader is needed.
 */
export interface Expiry {
  start(): void;
  /** Takes no further look, and waits for the one it is at. */
  stop(): Promise<void>;
  /** Looks at all that is due now. */
  runOnce(): Promise<Sweep>;
}

/** What one pass found. */
export interface Sweep {
  readonly lapsed: number;
  /** Renewed since: looked at too early, by design. */
  readonly alive: number;
  /** Ended by someone else meanwhile. */
  readonly gone: number;
  /** Time until the next look is due, ms; at most a tick. */
  readonly nextInMs: number;
}

interface Due {
  tenant_id: string;
  node_id: string;
  fence: bigint;
}

const TICK_MS = 1_000;
const LONGEST_PASS = 1_000;

const DUE = `
SELECT l.tenant_id, l.node_id, l.fence
FROM lease l
WHERE l.holder IS NOT NULL AND l.sweep_at <= holdfast_now()
ORDER BY l.sweep_at
LIMIT ${LONGEST_PASS}`;

const SOONEST = `
SELECT holdfast_ms(l.sweep_at) - holdfast_ms(holdfast_now()) AS left
FROM lease l
WHERE l.holder IS NOT NULL
ORDER BY l.sweep_at
LIMIT 1`;

export interface ExpiryParts {
  readonly engine: Engine;
  readonly reads: PrismaClient;
  readonly log: Pick<Logger, 'warn'>;
}

export function createExpiry({ engine, reads, log }: ExpiryParts): Expiry {
  let timer: NodeJS.Timeout | undefined;
  let pass: Promise<void> = Promise.resolve();
  let running = false;

  async function runOnce(): Promise<Sweep> {
    const found = { lapsed: 0, alive: 0, gone: 0 };
    for (;;) {
      const due = await reads.$queryRawUnsafe<Due[]>(DUE);
      await Promise.all([...byTenant(due)].map(([tenantId, rows]) => expireAll(tenantId, rows, found)));
      if (due.length < LONGEST_PASS) break;
    }
    const [soonest] = await reads.$queryRawUnsafe<{ left: bigint }[]>(SOONEST);
    const left = soonest === undefined ? TICK_MS : Number(soonest.left);
    return { ...found, nextInMs: Math.max(0, Math.min(left, TICK_MS)) };
  }

  async function expireAll(
    tenantId: string,
    rows: readonly Due[],
    found: { lapsed: number; alive: number; gone: number },
  ): Promise<void> {
    const commands = rows.map(({ node_id, fence }): Expire => ({ verb: 'expire', nodeId: node_id, fence }));
    for (const outcome of await engine.execute(tenantId, commands)) {
      if (outcome.kind !== 'swept') throw new Error(`expire answered ${outcome.kind}`);
      found[outcome.found] += 1;
    }
  }

  function next(afterMs: number): void {
    if (!running) return;
    timer = setTimeout(() => {
      pass = runOnce().then(
        ({ nextInMs }) => next(nextInMs),
        (err: unknown) => {
          // A database out of reach is told by every call; the sweep only has to go on when it is back.
          log.warn({ err }, 'the sweep of lapsed leases did not come through; it is tried again');
          next(TICK_MS);
        },
      );
    }, afterMs);
  }

  return {
    runOnce,
    start() {
      running = true;
      next(0);
    },
    async stop() {
      running = false;
      clearTimeout(timer);
      await pass;
    },
  };
}

function byTenant(due: readonly Due[]): Map<string, Due[]> {
  const groups = new Map<string, Due[]>();
  for (const row of due) {
    const rows = groups.get(row.tenant_id);
    if (rows === undefined) groups.set(row.tenant_id, [row]);
    else rows.push(row);
  }
  return groups;
}
