import type { Command } from '../lease/command.ts';
import type { Outcome } from '../lease/outcome.ts';
import { Queue } from './queue.ts';
import { Unavailable } from './unavailable.ts';

/**
 * Natural batching for one tenant. While a lane's transactions are in flight, arriving commands wait; the next one
 * takes all that wait, up to 500. No timer, no delay when idle; under load begin, fsync and commit are shared.
 *
 * Two lanes, plain heartbeats and the rest, each with up to two batches in flight. A node is in at most one batch in
 * flight, and its commands keep their order: they wait at the node, and the lanes queue nodes. Single calls are taken
 * before the pieces of bulk calls fill a batch, so that one large call does not stand in front of many small ones.
 *
 * Not promised: an order between commands on different nodes.
 */
export interface Lanes {
  /** Queues a command; its answer is an outcome, or an error that says what is known. */
  submit(command: Command, from: 'single' | 'bulk', answer: Answer): void;
  /** Commands waiting or in flight. */
  readonly load: number;
}

export interface Answer {
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
}

/** What a batch says of each command: an outcome, an error of its own, or that its node is locked elsewhere. */
export type Verdict = { readonly outcome: Outcome } | { readonly error: unknown } | 'busy';

export interface LaneLimits {
  readonly mostInBatch: number;
  readonly mostInFlight: number;
  /** Commands that may wait in a lane. */
  readonly mostWaiting: number;
  /** How long a command may wait, ms. */
  readonly longestWaitMs: number;
}

export const LANE_LIMITS: LaneLimits = { mostInBatch: 500, mostInFlight: 2, mostWaiting: 20_000, longestWaitMs: 2_000 };

interface Waiting {
  readonly command: Command;
  readonly lane: LaneName;
  readonly from: 'single' | 'bulk';
  readonly answer: Answer;
  readonly since: number;
  tries: number;
}

/** The commands of one node, and whether they may be taken now. */
interface NodeQueue {
  readonly nodeId: string;
  readonly waiting: Queue<Waiting>;
  /** In a lane's queue, in a batch in flight, or resting because its row is locked elsewhere. */
  place: 'queued' | 'in flight' | 'resting';
}

type LaneName = 'heartbeat' | 'other';

interface Lane {
  readonly single: Queue<NodeQueue>;
  readonly bulk: Queue<NodeQueue>;
  inFlight: number;
  waiting: number;
}

/** A heartbeat that only moves the horizon; it makes no event unless it finds the lease gone. */
export function isPlainHeartbeat(command: Command): boolean {
  return command.verb === 'renew' && command.session === null;
}

export function createLanes(
  run: (commands: readonly Command[]) => Promise<readonly Verdict[]>,
  limits: LaneLimits = LANE_LIMITS,
): Lanes {
  const nodes = new Map<string, NodeQueue>();
  const lanes: Record<LaneName, Lane> = { heartbeat: newLane(), other: newLane() };
  let inFlight = 0;
  let pumping = false;
  let watch: NodeJS.Timeout | undefined;

  function submit(command: Command, from: 'single' | 'bulk', answer: Answer): void {
    const name: LaneName = isPlainHeartbeat(command) ? 'heartbeat' : 'other';
    const lane = lanes[name];
    if (lane.waiting >= limits.mostWaiting) {
      answer.reject(
        new Unavailable(`${lane.waiting} commands are waiting already. Nothing was done; repeat the call.`),
      );
      return;
    }
    lane.waiting += 1;
    let node = nodes.get(command.nodeId);
    if (node === undefined) {
      node = { nodeId: command.nodeId, waiting: new Queue(), place: 'resting' };
      nodes.set(command.nodeId, node);
    }
    node.waiting.push({ command, lane: name, from, answer, since: performance.now(), tries: 0 });
    if (node.place === 'resting' && node.waiting.size === 1) enqueue(node);
    watch ??= setInterval(dropLate, limits.longestWaitMs / 8).unref();
    pumpSoon();
  }

  /** At the end of this turn of the event loop, so that a bulk call, or calls that came together, fly together. */
  function pumpSoon(): void {
    if (pumping) return;
    pumping = true;
    setImmediate(() => {
      pumping = false;
      pump(lanes.heartbeat);
      pump(lanes.other);
    });
  }

  /** Puts a node with waiting commands into the lane of the first of them. */
  function enqueue(node: NodeQueue, where: 'back' | 'front' = 'back'): void {
    const first = node.waiting.peek();
    if (first === undefined) {
      nodes.delete(node.nodeId);
      return;
    }
    node.place = 'queued';
    const queue = lanes[first.lane][first.from];
    if (where === 'back') queue.push(node);
    else queue.putBack([node]);
    pumpSoon();
  }

  function pump(lane: Lane): void {
    while (lane.inFlight < limits.mostInFlight) {
      const batch = take(lane);
      if (batch.length === 0) return;
      lane.inFlight += 1;
      void fly(lane, batch);
    }
  }

  /** The next batch: single calls up to half of it, bulk pieces, then single calls again. */
  function take(lane: Lane): Waiting[] {
    const batch: Waiting[] = [];
    fill(lane.single, batch, limits.mostInBatch / 2);
    fill(lane.bulk, batch, limits.mostInBatch);
    fill(lane.single, batch, limits.mostInBatch);
    return batch;
  }

  function fill(queue: Queue<NodeQueue>, batch: Waiting[], most: number): void {
    while (batch.length < most) {
      const node = queue.shift();
      if (node === undefined) return;
      const name = node.waiting.peek()?.lane;
      while (batch.length < most && node.waiting.peek()?.lane === name) {
        const item = node.waiting.shift();
        if (item === undefined) break;
        // Not always of this lane: the command that brought the node here may have been dropped for waiting too long.
        lanes[item.lane].waiting -= 1;
        if (isLate(item)) item.answer.reject(tooLate(item));
        else batch.push(item);
        node.place = 'in flight';
      }
      if (batch.at(-1)?.command.nodeId !== node.nodeId) enqueue(node);
    }
  }

  async function fly(lane: Lane, batch: Waiting[]): Promise<void> {
    inFlight += batch.length;
    const verdicts = await run(batch.map((item) => item.command));
    inFlight -= batch.length;
    lane.inFlight -= 1;
    const busy = new Map<string, Waiting[]>();
    const touched = new Set<string>();
    batch.forEach((item, index) => {
      const verdict = verdicts[index];
      touched.add(item.command.nodeId);
      if (verdict === 'busy' || verdict === undefined) {
        item.tries += 1;
        if (isLate(item)) item.answer.reject(tooLate(item));
        else if (!busy.get(item.command.nodeId)?.push(item)) busy.set(item.command.nodeId, [item]);
      } else if ('outcome' in verdict) item.answer.resolve(verdict.outcome);
      else item.answer.reject(verdict.error);
    });
    for (const nodeId of touched) land(nodeId, busy.get(nodeId));
    pumpSoon();
  }

  /** A node comes back from its batch: to the queue, or to rest a moment with what was busy in front. */
  function land(nodeId: string, busy: readonly Waiting[] | undefined): void {
    const node = nodes.get(nodeId);
    if (node === undefined) return;
    if (busy === undefined) {
      enqueue(node);
      return;
    }
    node.place = 'resting';
    node.waiting.putBack(busy);
    for (const item of busy) lanes[item.lane].waiting += 1;
    const tries = busy[0]?.tries ?? 0;
    const rest = tries > 20 ? 10 + Math.random() * 10 : 1 + Math.random() * 4;
    setTimeout(() => {
      if (node.place === 'resting') enqueue(node, 'front');
    }, rest);
  }

  function isLate(item: Waiting): boolean {
    return performance.now() - item.since >= limits.longestWaitMs;
  }

  /** Answers those that waited too long, also while no batch comes back. */
  function dropLate(): void {
    for (const node of nodes.values()) {
      for (let first = node.waiting.peek(); first !== undefined && isLate(first); first = node.waiting.peek()) {
        node.waiting.shift();
        lanes[first.lane].waiting -= 1;
        first.answer.reject(tooLate(first));
      }
    }
    if (lanes.heartbeat.waiting + lanes.other.waiting + inFlight === 0) {
      clearInterval(watch);
      watch = undefined;
    }
  }

  return {
    submit,
    get load() {
      return lanes.heartbeat.waiting + lanes.other.waiting + inFlight;
    },
  };
}

function newLane(): Lane {
  return { single: new Queue(), bulk: new Queue(), inFlight: 0, waiting: 0 };
}

function tooLate({ command, tries }: Waiting): Unavailable {
  const why = tries > 0 ? 'another transaction keeps its lease row locked' : 'the server did not come to it in time';
  return new Unavailable(`${command.nodeId}: ${why}. Nothing was done for it; repeat the call.`);
}
