import type { Logger } from 'pino';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { LeaseView } from '../lease/refusal.ts';
import { CLOCK, LEASE_COLUMNS, type LeaseRow, readLeases, toView } from '../read/leases.ts';
import { closable } from './follow.ts';

/**
 * Warns holders of leases that are about to end, once for each end of each lease.
 *
 * One timer waits for the soonest warning that is known of, at most a second, so that leases granted and renewed by
 * other replicas are seen. A pass reads the leases of all that are watched here, and marks what is due; each is read
 * again right before it is told, so that a renewal on any replica silences it. All instants are the database's.
 *
 * What is due is kept by node, so a watcher that is slow holds no more than its person holds leases, and is told late
 * or, once the lease was renewed or has ended, not at all. That a lease has ended is for `lost.ts` to tell.
 */
export interface Expiring {
  start(): void;
  /** Takes no further look, and waits for the one it is at. */
  stop(): Promise<void>;
  /** Looks once for all watchers. @returns time until the next warning is due, ms; at most a tick */
  runOnce(): Promise<number>;
  /** The leases of a holder as they come within that time of their end; at once those that are. */
  watch(watch: Watch): AsyncIterableIterator<LeaseView>;
  /** Watchers of all tenants. */
  readonly watchers: number;
}

export interface Watch {
  readonly tenantId: string;
  readonly person: string;
  /** Only leases bound to exactly this session; all for null. */
  readonly session: string | null;
  readonly withinMs: number;
}

export interface ExpiringParts {
  readonly reads: PrismaClient;
  readonly log: Pick<Logger, 'warn'>;
  /** Leases that one statement gives. */
  readonly page?: number;
}

interface Watcher extends Watch {
  /** The end of each lease within reach that this watcher was warned of, by node. */
  readonly warned: Map<string, string>;
  /** What is to be told, by node. */
  readonly due: Map<string, string>;
  wake: () => void;
  open: boolean;
}

const TICK_MS = 1_000;
/** People whose leases one statement looks at, by index, and leases that it gives. */
const PEOPLE = 20;
const PAGE = 5_000;
/** Leases that are read again at once, and how long that counts as right before they are told. */
const READ_AGAIN = 100;
const FRESH_MS = 100;

/** The leases of a person are found by an index. sweep_at is never behind the end, so it may narrow the search first. */
const NEAR = `
SELECT ${LEASE_COLUMNS}
FROM ${CLOCK}, unnest($2::text[], $3::bigint[]) AS asked (person, within), lease l
WHERE l.tenant_id = $1 AND l.holder = asked.person
  AND l.sweep_at <= clock.now + asked.within * interval '1 millisecond'
  AND l.expires_at > clock.now AND l.expires_at <= clock.now + asked.within * interval '1 millisecond'
  AND (l.expires_at, l.node_id) > (holdfast_at($4::bigint), $5::text)
ORDER BY l.expires_at, l.node_id
LIMIT $6`;

export function createExpiring({ reads, log, page = PAGE }: ExpiringParts): Expiring {
  const watchers = new Set<Watcher>();
  let timer: NodeJS.Timeout | undefined;
  let pass: Promise<void> | undefined;
  let again = false;
  let running = false;

  async function runOnce(): Promise<number> {
    let nextInMs = TICK_MS;
    for (const [tenantId, theirs] of grouped(watchers, ({ tenantId }) => tenantId)) {
      nextInMs = Math.min(nextInMs, await look(tenantId, theirs));
    }
    return Math.max(1, nextInMs);
  }

  /** One look at a tenant's leases. @returns time until the next warning, ms */
  async function look(tenantId: string, theirs: readonly Watcher[]): Promise<number> {
    const people = [...grouped(theirs, ({ person }) => person)];
    let nextInMs = TICK_MS;
    for (let at = 0; at < people.length; at += PEOPLE) {
      const some = new Map(people.slice(at, at + PEOPLE));
      const near = new Map([...some.values()].flat().map((watcher) => [watcher, new Set<string>()]));
      for await (const lease of leasesNear(tenantId, some)) {
        for (const watcher of some.get(lease.holder) ?? []) {
          if (!concerns(watcher, lease)) continue;
          const leftMs = lease.expiresInMs - watcher.withinMs;
          if (leftMs > 0) nextInMs = Math.min(nextInMs, leftMs);
          else warn(watcher, lease, near.get(watcher));
        }
      }
      for (const [watcher, nodeIds] of near) settle(watcher, nodeIds);
    }
    return nextInMs;
  }

  /** Leases that one of the watchers is to be warned of, or will be within a tick; the soonest end first. */
  async function* leasesNear(tenantId: string, people: ReadonlyMap<string, Watcher[]>): AsyncGenerator<LeaseView> {
    const within = [...people.values()].map((each) => Math.max(...each.map(({ withinMs }) => withinMs)) + TICK_MS);
    let last: Pick<LeaseView, 'expiresAt' | 'nodeId'> | undefined = { expiresAt: 0, nodeId: '' };
    while (last !== undefined) {
      const rows: LeaseRow[] = await reads.$queryRawUnsafe<LeaseRow[]>(
        NEAR,
        ...[tenantId, [...people.keys()], within, last.expiresAt, last.nodeId, page],
      );
      const leases: LeaseView[] = rows.map(toView);
      yield* leases;
      last = leases.length < page ? undefined : leases.at(-1);
    }
  }

  async function* notices(watcher: Watcher): AsyncGenerator<LeaseView> {
    watchers.add(watcher);
    if (running) run();
    try {
      while (watcher.open) {
        const due = first(watcher.due, READ_AGAIN);
        const leases = due.length === 0 ? null : await readAgain(watcher, due);
        if (leases === null) {
          await nextPass(watcher);
          continue;
        }
        yield* tell(watcher, due, leases);
      }
    } finally {
      watchers.delete(watcher);
    }
  }

  /** The leases as they are now; null when that can't be told, and all stay due until the next pass. */
  async function readAgain(
    { tenantId }: Watcher,
    due: readonly (readonly [string, string])[],
  ): Promise<ReadonlyMap<string, LeaseView> | null> {
    try {
      const ids = due.map(([nodeId]) => nodeId);
      return await readLeases(reads, tenantId, ids);
    } catch (err) {
      log.warn({ err }, 'leases that are about to end could not be read again; it is tried again');
      return null;
    }
  }

  function run(): void {
    if (pass !== undefined) {
      again = true;
      return;
    }
    again = false;
    pass = runOnce()
      .catch((err: unknown) => {
        log.warn({ err }, 'leases that are about to end could not be looked for; it is tried again');
        return TICK_MS;
      })
      .then((nextInMs) => {
        pass = undefined;
        clearTimeout(timer);
        if (running && watchers.size > 0) timer = setTimeout(run, again ? 0 : nextInMs);
      });
  }

  return {
    runOnce,
    watch(watch) {
      const watcher: Watcher = { ...watch, warned: new Map(), due: new Map(), wake: () => {}, open: true };
      return closable(notices(watcher), () => {
        watcher.open = false;
        watcher.wake();
      });
    },
    get watchers() {
      return watchers.size;
    },
    start() {
      running = true;
      if (watchers.size > 0) run();
    },
    async stop() {
      running = false;
      clearTimeout(timer);
      await pass;
    },
  };
}

function concerns({ person, session }: Watch, lease: LeaseView): boolean {
  return lease.holder === person && (session === null || lease.session === session);
}

/** What a warning is given once for. */
function endOf({ fence, expiresAt }: LeaseView): string {
  return `${fence} ${expiresAt}`;
}

/** What of the due is still as it was marked. Stops when the reading is too old; the rest stays due. */
function* tell(
  watcher: Watcher,
  due: readonly (readonly [string, string])[],
  leases: ReadonlyMap<string, LeaseView>,
): Generator<LeaseView> {
  const readAt = performance.now();
  for (const [nodeId, end] of due) {
    if (watcher.due.get(nodeId) === end) watcher.due.delete(nodeId);
    const lease = leases.get(nodeId);
    if (lease !== undefined && endOf(lease) === end && concerns(watcher, lease)) yield lease;
    if (!watcher.open || performance.now() - readAt > FRESH_MS) return;
  }
}

/** Marks a lease as due, unless the watcher was warned of this end. */
function warn(watcher: Watcher, lease: LeaseView, near: Set<string> | undefined): void {
  const end = endOf(lease);
  near?.add(lease.nodeId);
  if (watcher.warned.get(lease.nodeId) === end) return;
  watcher.warned.set(lease.nodeId, end);
  watcher.due.set(lease.nodeId, end);
}

/** After a whole pass: forgets what is no longer near its end, and has the watcher tell what is due. */
function settle(watcher: Watcher, near: ReadonlySet<string>): void {
  for (const nodeId of watcher.warned.keys()) if (!near.has(nodeId)) watcher.warned.delete(nodeId);
  if (watcher.due.size > 0) watcher.wake();
}

/** Waits until a pass finds something due, or the watcher is closed. */
function nextPass(watcher: Watcher): Promise<void> {
  return new Promise((woken) => {
    if (watcher.open) watcher.wake = woken;
    else woken();
  });
}

function first<K, V>(map: ReadonlyMap<K, V>, count: number): [K, V][] {
  const entries: [K, V][] = [];
  for (const entry of map) {
    if (entries.length === count) break;
    entries.push(entry);
  }
  return entries;
}

function grouped<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
