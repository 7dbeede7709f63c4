import type { Logger } from 'pino';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { type EventRead, listEvents } from '../read/lease-events.ts';

/**
 * Carries the history of each tenant to its subscribers here, by tailing the table. seq is gapless and in commit order,
 * so what was read up to n is all there is up to n: nothing that commits late is ever passed over.
 *
 * A pass asks for the heads of all tenants with subscribers, then reads the tails of those that moved. It is rung for by
 * the doorbell and runs each second anyhow: a lost ring costs time, never an event.
 */
export interface Relay {
  start(): void;
  stop(): Promise<void>;
  /** Carries all that is there now. @returns how many events that were */
  runOnce(): Promise<number>;
  /** Asks for a pass at once; while one runs, for one more after it. */
  ring(): void;
  /**
   * Joins a subscriber that has all up to `from`.
   * @returns how to leave again, or null when the relay is further already: read on, then ask again
   */
  join(tenantId: string, from: bigint, deliver: Deliver): (() => void) | null;
  /** How far the subscribers of a tenant are; null when it has none. */
  headOf(tenantId: string): bigint | null;
  /** Subscribers of all tenants. */
  readonly subscribers: number;
}

/**
 * Takes an event at once; it must not throw, and never waits. `lost` says that events were forgotten before they could
 * be carried.
 */
export type Deliver = (event: EventRead | 'lost') => void;

export interface RelayParts {
  readonly reads: PrismaClient;
  readonly log: Pick<Logger, 'warn'>;
  /**
   * Done between reading events and delivering them: whoever lost the right to them before they were committed is shut
   * out by then, on any replica.
   */
  readonly beforeDelivery?: (() => Promise<unknown>) | undefined;
}

interface Tenant {
  head: bigint;
  readonly subscribers: Map<Deliver, bigint>;
}

const TICK_MS = 1_000;
const PAGE = 500;

export function createRelay({ reads, log, beforeDelivery }: RelayParts): Relay {
  const tenants = new Map<string, Tenant>();
  let timer: NodeJS.Timeout | undefined;
  let pass: Promise<void> | undefined;
  let again = false;
  let running = false;

  async function runOnce(): Promise<number> {
    if (tenants.size === 0) return 0;
    const heads = await reads.tenant.findMany({
      where: { tenantId: { in: [...tenants.keys()] } },
      select: { tenantId: true, seq: true },
    });
    const carried = await Promise.all(heads.map(({ tenantId, seq }) => carry(tenantId, seq)));
    return carried.reduce((sum, count) => sum + count, 0);
  }

  /** Reads a tenant's tail up to a head, and delivers it in order. */
  async function carry(tenantId: string, upTo: bigint): Promise<number> {
    let count = 0;
    for (
      let tenant = tenants.get(tenantId);
      tenant !== undefined && tenant.head < upTo;
      tenant = tenants.get(tenantId)
    ) {
      const { events, gap } = await listEvents(reads, tenantId, tenant.head, {}, PAGE);
      if (events.length > 0) await beforeDelivery?.();
      // The subscribers may have left, or left and come again further on, while this was read.
      if (tenants.get(tenantId) !== tenant) continue;
      if (gap) for (const take of tenant.subscribers.keys()) take('lost');
      for (const event of events) deliver(tenant, event);
      count += events.length;
      if (events.length === 0) tenant.head = upTo;
    }
    return count;
  }

  function deliver(tenant: Tenant, event: EventRead): void {
    if (event.seq <= tenant.head) return;
    tenant.head = event.seq;
    for (const [take, from] of tenant.subscribers) if (event.seq > from) take(event);
  }

  function next(afterMs: number): void {
    clearTimeout(timer);
    if (running) timer = setTimeout(run, afterMs);
  }

  function run(): void {
    if (pass !== undefined) {
      again = true;
      return;
    }
    again = false;
    pass = runOnce()
      .catch((err: unknown) => log.warn({ err }, 'the history could not be tailed; it is tried again'))
      .then(() => {
        pass = undefined;
        next(again ? 0 : TICK_MS);
      });
  }

  return {
    runOnce,
    ring() {
      if (running && tenants.size > 0) run();
    },
    join(tenantId, from, take) {
      const tenant = tenants.get(tenantId) ?? { head: from, subscribers: new Map<Deliver, bigint>() };
      if (from < tenant.head) return null;
      tenants.set(tenantId, tenant);
      tenant.subscribers.set(take, from);
      // What was committed since the subscriber read may have been rung for before it was here.
      if (running) run();
      return () => {
        tenant.subscribers.delete(take);
        if (tenant.subscribers.size === 0 && tenants.get(tenantId) === tenant) tenants.delete(tenantId);
      };
    },
    headOf: (tenantId) => tenants.get(tenantId)?.head ?? null,
    get subscribers() {
      return [...tenants.values()].reduce((sum, tenant) => sum + tenant.subscribers.size, 0);
    },
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
