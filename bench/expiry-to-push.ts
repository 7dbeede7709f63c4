import { setTimeout as pause } from 'node:timers/promises';
import { median, percentile, print } from './figures.ts';
import { type BenchServer, exactNow, startServer } from './server.ts';

/**
 * How long after its deadline a subscriber hears of a lapse: 10,000 leases in force, 100 lapsing a second, some
 * subscribers over WebSocket. The deadline is the lease's end in database time.
 */
const IN_FORCE = 10_000;
const TTL_MS = 4_000;
const LAPSES_A_SECOND = 100;
const SECONDS = 5;
const ROUNDS = 5;
const SUBSCRIBERS = 10;

export async function expiryToPush(): Promise<void> {
  const server = await startServer();
  try {
    await holdInForce(server);
    await server.graphql('mutation ($input: SetPolicyInput!) { setPolicy(input: $input) { __typename } }', {
      input: { project: 'short', claimTtlMs: TTL_MS },
    });
    const rounds: { readonly p50: number; readonly p99: number; readonly worst: number; readonly told: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const late = await lapse(server);
      const [p50, p99, worst] = [0.5, 0.99, 1].map((share) => percentile(late, share)) as [number, number, number];
      rounds.push({ p50, p99, worst, told: late.length });
    }
    const columns = rounds.map((row, index) => ({ round: String(index + 1), ...shown(row) }));
    const middle = {
      p50: median(rounds.map(({ p50 }) => p50)),
      p99: median(rounds.map(({ p99 }) => p99)),
      worst: median(rounds.map(({ worst }) => worst)),
      told: median(rounds.map(({ told }) => told)),
    };
    const title = `Expiry to push: ${IN_FORCE} in force, ${LAPSES_A_SECOND} lapse a second, ${SUBSCRIBERS} subscribers; ms after the deadline`;
    print(title, server.database, [...columns, { round: 'median', ...shown(middle) }]);
  } finally {
    await server.stop();
  }
}

async function holdInForce(server: BenchServer): Promise<void> {
  // One person holds these, and claims the short ones too.
  await server.graphql('mutation ($input: SetPolicyInput!) { setPolicy(input: $input) { __typename } }', {
    input: { heldMax: IN_FORCE * 2 },
  });
  const ids = await server.addTasks('long', IN_FORCE);
  for (let start = 0; start < ids.length; start += 1_000) {
    await server.call('/v1/queue/claim', { ids: ids.slice(start, start + 1_000) });
  }
}

/** One round. @returns for each lapse and subscriber, how long after the deadline it was told, ms */
async function lapse(server: BenchServer): Promise<number[]> {
  const ids = await server.addTasks('short', LAPSES_A_SECOND * SECONDS);
  const deadlines = new Map<string, number>();
  const received: { readonly nodeId: string; readonly at: number }[] = [];
  const query =
    'subscription { leaseEvents(filter: { kinds: [EXPIRED], project: "short" }) { __typename ... on LeaseEvent { nodeId } } }';
  const sockets = await Promise.all(
    Array.from({ length: SUBSCRIBERS }, () =>
      server.subscribe(query, (message) => {
        const at = exactNow();
        const nodeId = /"nodeId":"([^"]*)"/.exec(message)?.[1];
        if (nodeId !== undefined) received.push({ nodeId, at });
      }),
    ),
  );
  const ahead = await server.clockAheadMs();
  const start = performance.now();
  await Promise.all(
    ids.map(async (id, index) => {
      await pause(start + (index * 1_000) / LAPSES_A_SECOND - performance.now());
      const { lease } = await server.call(`/v1/nodes/${id}/claim`, {});
      deadlines.set(id, Date.parse(lease.expires_at));
    }),
  );
  const expected = ids.length * SUBSCRIBERS;
  const limit = performance.now() + TTL_MS + 10_000;
  while (received.length < expected && performance.now() < limit) await pause(50);
  for (const socket of sockets) socket.terminate();
  if (received.length !== expected) throw new Error(`${received.length} of ${expected} messages came`);
  return received.map(({ nodeId, at }) => at + ahead - (deadlines.get(nodeId) as number));
}

function shown({ p50, p99, worst, told }: { p50: number; p99: number; worst: number; told: number }) {
  return { p50: p50.toFixed(1), p99: p99.toFixed(1), worst: worst.toFixed(1), messages: told };
}
