import { setTimeout as pause } from 'node:timers/promises';
import { median, percentile, print } from './figures.ts';
import { type BenchServer, exactNow, startServer } from './server.ts';

/** How long after a call was sent each of many subscribers has its event: one socket each, one claim at a time. */
const SUBSCRIBERS = [100, 1_000, 5_000];
const ROUNDS = 9;

export async function fanOut(): Promise<void> {
  const server = await startServer();
  try {
    const rows: Record<string, number | string>[] = [];
    for (const count of SUBSCRIBERS) rows.push(await measure(server, count));
    print('Fan-out: one claim, sent to received; ms, medians of rounds', server.database, rows);
  } finally {
    await server.stop();
  }
}

async function measure(server: BenchServer, count: number): Promise<Record<string, number | string>> {
  const received: number[] = [];
  const query = 'subscription { leaseEvents { __typename ... on LeaseEvent { seq kind nodeId holder { personId } } } }';
  const sockets: { terminate(): void }[] = [];
  const open = async () => {
    const told = (message: string) => void (message.includes('"CLAIMED"') && received.push(exactNow()));
    sockets.push(await server.subscribe(query, told));
  };
  // Not all at once: what counts here is the push.
  for (let at = 0; at < count; at += 50) await Promise.all(Array.from({ length: Math.min(50, count - at) }, open));
  const ids = await server.addTasks('fan', ROUNDS);
  const rounds: number[][] = [];
  for (const id of ids) {
    received.length = 0;
    const sent = exactNow();
    await server.call(`/v1/nodes/${id}/claim`, {});
    const limit = performance.now() + 20_000;
    while (received.length < count && performance.now() < limit) await pause(20);
    if (received.length !== count) throw new Error(`${received.length} of ${count} messages came`);
    rounds.push(received.map((at) => at - sent));
  }
  for (const socket of sockets) socket.terminate();
  const middle = (share: number) => median(rounds.map((round) => percentile(round, share))).toFixed(1);
  return { subscribers: count, first: middle(0), p50: middle(0.5), p99: middle(0.99), last: middle(1) };
}
