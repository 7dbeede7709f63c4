import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Followed, follow } from '../../src/events/follow.ts';
import { createRelay, type Relay } from '../../src/events/relay.ts';
import type { PrismaClient } from '../../src/generated/prisma/client.ts';
import { claim, release } from '../support/commands.ts';
import { ana, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';

const log = { warn: () => {} };
let rig: EngineRig;
let relay: Relay;
let ids: string[];
beforeAll(async () => {
  rig = await createEngineRig();
  relay = createRelay({ reads: rig.clients.reads, log });
  ids = Array.from({ length: 1_000 }, (_, index) => `n${index}`);
  await rig.addNodes(ids);
});
afterAll(async () => {
  await relay.stop();
  await rig.close();
});

const latest = async () => {
  const [row] = await rig.database.sql<{ seq: string }>('SELECT seq FROM tenant WHERE tenant_id = $1', TENANT);
  return BigInt(row?.seq ?? 0);
};

/** Two events for each node. */
const turn = async (nodeIds: readonly string[]) => {
  await rig.engine.execute(
    TENANT,
    nodeIds.map((id) => claim(id, ana)),
  );
  await rig.engine.execute(
    TENANT,
    nodeIds.map((id) => release(id, ana)),
  );
};

/** The same reads, but something happens before one of them; after the last of them, if it is not reached. */
function interrupted(nth: number, happens: () => Promise<unknown>): PrismaClient {
  let count = 0;
  return new Proxy(rig.clients.reads, {
    get(target, name) {
      if (name !== '$queryRawUnsafe') return Reflect.get(target, name, target);
      return async (...asked: Parameters<PrismaClient['$queryRawUnsafe']>) => {
        count += 1;
        if (count === nth) await happens();
        return target.$queryRawUnsafe(...asked);
      };
    },
  });
}

const seqsOf = (told: readonly Followed[]) => told.flatMap((each) => (each.kind === 'event' ? [each.event.seq] : []));
const range = (from: bigint, to: bigint) =>
  Array.from({ length: Number(to - from) }, (_, at) => from + 1n + BigInt(at));

/** Takes messages until the event with this seq. */
async function until(messages: AsyncIterator<Followed>, seq: bigint): Promise<Followed[]> {
  const told: Followed[] = [];
  for (;;) {
    const { value, done } = await messages.next();
    if (done) return told;
    told.push(value);
    if (value.kind === 'slow' || (value.kind === 'event' && value.event.seq >= seq)) return told;
  }
}

async function open(reads: PrismaClient, after: bigint | null, bound?: number, quietMs = 30_000) {
  const parts = { reads, relay, quietMs, ...(bound !== undefined && { bound }) };
  const followed = await follow(parts, TENANT, after, {});
  if ('latestSeq' in followed) throw new Error('the cursor is ahead');
  return followed;
}

describe('B42: what is committed while a subscriber comes is seen exactly once', () => {
  // 1 the bounds of subscribe; then for each of three pages its bounds and its rows. The last page is the one before
  // the relay is joined.
  it.each([1, 2, 3, 4, 5, 6, 7])('before read %i of a replay over several pages', async (nth) => {
    const from = await latest();
    await turn(ids.slice(0, 600));
    const messages = await open(
      interrupted(nth, () => turn(['n900'])),
      from,
    );
    const told = until(messages, from + 1_202n);
    // What came after the last page is for the relay to bring.
    expect(seqsOf(await Promise.all([told, carryUntil(told)]).then(([all]) => all))).toEqual(
      range(from, from + 1_202n),
    );
    await turn(['n901']);
    const more = until(messages, from + 1_204n);
    await carryUntil(more);
    expect(seqsOf(await more)).toEqual([from + 1_203n, from + 1_204n]);
    await messages.return?.();
    expect(relay.subscribers).toBe(0);
  });

  it.each([1, 2, 3])('before read %i of a live subscription', async (nth) => {
    const from = await latest();
    const messages = await open(
      interrupted(nth, () => turn(['n902'])),
      null,
    );
    const { value } = await messages.next();
    expect(value.kind).toBe('cursor');
    await turn(['n903']);
    const told = until(messages, from + 4n);
    await carryUntil(told);
    expect(seqsOf(await told)).toEqual(range(value.seq, from + 4n));
    await messages.return?.();
  });

  it('between joining and the first next, and with the relay well ahead of a second one', async () => {
    const from = await latest();
    const first = await open(rig.clients.reads, from);
    const second = await open(rig.clients.reads, from);
    await turn(['n904']);
    const seen = until(first, from + 2n);
    await carryUntil(seen);
    const more = until(first, from + 4n);
    await turn(['n905']);
    await carryUntil(more);
    const all = until(second, from + 4n);
    await carryUntil(all);
    expect([seqsOf(await more), seqsOf(await all)]).toEqual([range(from + 2n, from + 4n), range(from, from + 4n)]);
    await Promise.all([first.return?.(), second.return?.()]);
    expect(relay.subscribers).toBe(0);
  });

  async function carryUntil(told: Promise<unknown>): Promise<void> {
    let done = false;
    void told.then(() => {
      done = true;
    });
    for (; !done; await new Promise(setImmediate)) await relay.runOnce();
  }
});

describe('B50: more at once than a queue holds', () => {
  it('is caught up from the table by one that takes its messages', async () => {
    const from = await latest();
    const messages = await open(rig.clients.reads, null, 10);
    await messages.next();
    const told = until(messages, from + 2_000n);
    while (relay.subscribers === 0) await new Promise(setImmediate);
    await turn(ids);
    await relay.runOnce();
    expect(seqsOf(await told)).toEqual(range(from, from + 2_000n));
    await messages.return?.();
  });

  it('ends one that stopped taking them, with the last seq it was handed, from where it resumes', async () => {
    const from = await latest();
    const messages = await open(rig.clients.reads, null, 10);
    await messages.next();
    const first = until(messages, from + 1n);
    while (relay.subscribers === 0) await new Promise(setImmediate);
    await turn(['n1']);
    await relay.runOnce();
    await first;
    const stopped = performance.now();
    await turn(ids);
    await relay.runOnce();
    while (performance.now() - stopped < 1_100) await relay.runOnce();
    expect(await until(messages, 0n)).toEqual([{ kind: 'slow', lastSeq: from + 1n }]);
    expect(await messages.next()).toMatchObject({ done: true });
    expect(relay.subscribers).toBe(0);
    const again = await open(rig.clients.reads, from + 1n);
    expect(seqsOf(await until(again, from + 2_002n))).toEqual(range(from + 1n, from + 2_002n));
    await again.return?.();
  });

  it('tells where a quiet one may resume, also past what its filter held back', async () => {
    const messages = await open(rig.clients.reads, null, 10, 20);
    await messages.next();
    expect((await messages.next()).value).toEqual({ kind: 'cursor', seq: await latest() });
    const waiting = messages.next();
    await messages.return?.();
    await waiting;
    expect(relay.subscribers).toBe(0);
  });
});
