import { appendFileSync, closeSync, fsync, openSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { LeaseJson } from '../../src/rest/wire.ts';
import { holdersIn, type LeaseCall, leasesIn, randomCall } from './lease-calls.ts';
import type { Dice } from './random.ts';
import { createRestClient, type RestReply } from './rest-client.ts';

/**
 * Several hundred callers at once, each with one call on its way. An answer counts when it is on disk: it is appended
 * to a file and synced first, as a caller would who must not forget what it was told.
 */
export interface Traffic {
  /** Resolves in the moment when this many more were answered and so many are in flight. */
  reach(answered: number, inFlight?: number): Promise<void>;
  readonly inFlight: number;
  /** Resolves when each caller has its last answer, or lost its connection. */
  stop(): Promise<void>;
  /** Every call that was sent, as the file tells of it, in the order of sending. */
  calls(): readonly SentCall[];
  /** Answers that no caller should get, at most a few. */
  readonly wrong: readonly string[];
  /** Calls that were told to come back later. */
  readonly putOff: number;
  /** Resolves when no caller can connect any more, or all have stopped. */
  readonly ended: Promise<unknown>;
  /** Calls whose connection broke before their answer, not those that found no server to send them to. */
  readonly cut: number;
}

/** A call and what became of it. Times are of one clock, so that of two calls one may be seen to end before the other. */
export interface SentCall extends LeaseCall {
  readonly sentAt: number;
  /** Null when nothing is known: no answer, or one that says so. */
  readonly answer: {
    readonly at: number;
    readonly done: boolean;
    /** The caller's leases in force that it showed. */
    readonly leases: readonly LeaseJson[];
    /** The leases of others that it said are in the way. */
    readonly holders?: readonly LeaseJson[];
  } | null;
}

export interface TrafficOptions {
  readonly url: string;
  /** By person. */
  readonly tokens: ReadonlyMap<string, string>;
  readonly nodes: readonly string[];
  readonly callers: number;
  readonly dice: Dice;
  /** Where the answers go. */
  readonly file: string;
}

interface Waiter {
  readonly answered: number;
  readonly inFlight: number;
  reached(): void;
}

export function startTraffic({ url, tokens, nodes, callers, dice, file }: TrafficOptions): Traffic {
  const client = createRestClient(url, callers);
  const people = [...tokens.keys()];
  const fences = new Map<string, string>();
  const unanswered = new Set<SentCall>();
  const wrong: string[] = [];
  const ledger = createLedger(file);
  let [running, inFlight, answered, putOff, cut] = [true, 0, 0, 0, 0];
  let waiter: Waiter | null = null;

  async function send(call: LeaseCall): Promise<'again' | 'rest' | 'end'> {
    const sent: SentCall = { ...call, sentAt: performance.now(), answer: null };
    unanswered.add(sent);
    inFlight += 1;
    let reply: RestReply;
    try {
      reply = await client.call(tokens.get(call.person) as string, 'POST', call.path, call.body);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') cut += 1;
      return 'end';
    } finally {
      inFlight -= 1;
    }
    const at = performance.now();
    const meaning = meaningOf(call, reply);
    if (meaning === 'wrong' && wrong.length < 5) wrong.push(`${reply.status} ${JSON.stringify(reply)}`);
    if (meaning === 'wrong' || meaning === 'unknown') return 'rest';
    const leases = leasesIn(reply);
    await ledger.append({ ...sent, answer: { at, done: meaning === 'done', leases, holders: holdersIn(reply) } });
    unanswered.delete(sent);
    for (const { node_id, fence } of leases) fences.set(node_id, fence);
    if (meaning === 'put off') return 'rest';
    answered += 1;
    if (waiter !== null && answered >= waiter.answered && inFlight >= waiter.inFlight) waiter.reached();
    return 'again';
  }

  async function caller(): Promise<void> {
    while (running) {
      const next = await send(randomCall(dice, people, nodes, (nodeId) => fences.get(nodeId)));
      if (next === 'end') return;
      if (next === 'rest') {
        putOff += 1;
        // Far sooner than Retry-After says, to be there in every moment of an outage.
        await pause(20 + dice.below(30));
      }
    }
  }

  const all = Promise.all(Array.from({ length: callers }, caller));
  return {
    reach(more, least = 0) {
      return new Promise((resolve, reject) => {
        const limit = setTimeout(() => reject(new Error(`not within 30 s: ${more} answers; wrong: ${wrong}`)), 30_000);
        waiter = {
          answered: answered + more,
          inFlight: least,
          reached() {
            waiter = null;
            clearTimeout(limit);
            resolve();
          },
        };
      });
    },
    get inFlight() {
      return inFlight;
    },
    async stop() {
      running = false;
      await all;
      client.close();
      ledger.close();
    },
    calls: () => [...ledger.read(), ...unanswered].sort((one, other) => one.sentAt - other.sentAt),
    wrong,
    get putOff() {
      return putOff;
    },
    ended: all,
    get cut() {
      return cut;
    },
  };
}

/**
 * What an answer says of its call. A single verb that is put off with "nothing was done" is held to it; of a list, some
 * may have landed before.
 */
function meaningOf(call: LeaseCall, { status, headers, body }: RestReply): Meaning {
  if (status === 200) return 'done';
  if (status === 409) return 'refused';
  const later = status === 503 && body?.error?.code === 'unavailable' && Number(headers['retry-after']) >= 1;
  if (!later) return 'wrong';
  const single = call.nodeIds !== null && !call.verb.startsWith('bulk');
  return single && /nothing was done/i.test(body.error.message) ? 'put off' : 'unknown';
}

type Meaning = 'done' | 'refused' | 'put off' | 'unknown' | 'wrong';

/** A file of answers. Those that come while one sync runs share the next. */
function createLedger(file: string) {
  appendFileSync(file, '');
  const descriptor = openSync(file, 'a');
  let waiting: { line: string; written(): void }[] = [];
  let syncing = false;

  function flush(): void {
    if (syncing || waiting.length === 0) return;
    syncing = true;
    const batch = waiting;
    waiting = [];
    writeSync(descriptor, batch.map(({ line }) => line).join(''));
    fsync(descriptor, (error) => {
      if (error !== null) throw error;
      syncing = false;
      for (const { written } of batch) written();
      flush();
    });
  }

  return {
    append(call: SentCall): Promise<void> {
      return new Promise((written) => {
        waiting.push({ line: `${JSON.stringify(call)}\n`, written });
        flush();
      });
    },
    read: (): SentCall[] =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    close: () => closeSync(descriptor),
  };
}
