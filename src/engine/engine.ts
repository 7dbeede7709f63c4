import type { PrismaClient } from '../generated/prisma/client.ts';
import { refuseMalformed } from '../lease/check-input.ts';
import type { Command } from '../lease/command.ts';
import type { Outcome } from '../lease/outcome.ts';
import { type BatchParts, runBatch } from './batch.ts';
import { createHeldCount } from './held-count.ts';
import { createLanes, LANE_LIMITS, type LaneLimits, type Lanes } from './lanes.ts';
import { settle } from './settle.ts';
import { Unavailable } from './unavailable.ts';

/**
 * The one door for writes: every verb, single or bulk, by REST or GraphQL, the sweep and the import go through
 * `execute`. It is the only writer of leases, edges, statuses and events.
 *
 * An answer is given after its batch is committed. A refusal is an answer. A rejected promise is an outage
 * (`Unavailable`: repeat the call) or a fault; it says nothing was promised, not that nothing was done.
 */
export interface Engine {
  /**
   * Runs commands of one tenant and answers each, in the order given. Equal to calling them one after the other. A list
   * is cut into pieces that take turns with other calls.
   */
  execute(tenantId: string, commands: readonly Command[]): Promise<readonly Outcome[]>;
  /** Runs one command. */
  executeOne(tenantId: string, command: Command): Promise<Outcome>;
  /** Commands waiting or in flight. */
  readonly load: number;
  /** Takes no more commands and waits until those it has are answered. */
  stop(): Promise<void>;
}

export interface EngineOptions {
  readonly client: PrismaClient;
  readonly limits?: LaneLimits;
  readonly onEvents?: BatchParts['onEvents'];
  readonly onMoved?: BatchParts['onMoved'];
  readonly pause?: BatchParts['pause'];
  readonly difference?: BatchParts['difference'];
}

export function createEngine({ client, limits = LANE_LIMITS, ...told }: EngineOptions): Engine {
  const tenants = new Map<string, Lanes>();
  const parts: BatchParts = {
    client,
    heldCount: createHeldCount(),
    ...(told.onEvents && { onEvents: told.onEvents }),
    ...(told.onMoved && { onMoved: told.onMoved }),
    ...(told.pause && { pause: told.pause }),
    ...(told.difference && { difference: told.difference }),
  };
  const open = new Set<Promise<unknown>>();
  let stopped = false;

  function lanesOf(tenantId: string): Lanes {
    let lanes = tenants.get(tenantId);
    if (lanes === undefined) {
      lanes = createLanes((commands) => settle((batch) => runBatch(parts, tenantId, batch), commands), limits);
      tenants.set(tenantId, lanes);
    }
    return lanes;
  }

  function submit(tenantId: string, command: Command, from: 'single' | 'bulk'): Promise<Outcome> {
    const malformed = refuseMalformed(command);
    if (malformed !== null) return Promise.resolve(malformed);
    return new Promise((resolve, reject) => lanesOf(tenantId).submit(command, from, { resolve, reject }));
  }

  async function inPieces(tenantId: string, commands: readonly Command[]): Promise<readonly Outcome[]> {
    const from = commands.length > 1 ? 'bulk' : 'single';
    const outcomes: Outcome[] = [];
    for (let start = 0; start < commands.length; start += limits.mostInBatch) {
      const piece = commands.slice(start, start + limits.mostInBatch);
      outcomes.push(...(await Promise.all(piece.map((command) => submit(tenantId, command, from)))));
    }
    return outcomes;
  }

  /** An item that was not answered leaves the others of its call as they may be. */
  function asAWhole<T>(call: Promise<T>): Promise<T> {
    return call.catch((error: unknown) => {
      if (!(error instanceof Unavailable)) throw error;
      const message = 'The server did not come to all of the call. Part of it may be done; it is safe to repeat.';
      throw new Unavailable(message, error.retryAfterMs, { cause: error });
    });
  }

  function execute(tenantId: string, commands: readonly Command[]): Promise<readonly Outcome[]> {
    if (stopped) return Promise.reject(new Unavailable('The server is stopping. Nothing was done; repeat the call.'));
    const answer = commands.length > 1 ? asAWhole(inPieces(tenantId, commands)) : inPieces(tenantId, commands);
    open.add(answer);
    const close = () => open.delete(answer);
    answer.then(close, close);
    return answer;
  }

  return {
    execute,
    async executeOne(tenantId, command) {
      const [outcome] = await execute(tenantId, [command]);
      return outcome as Outcome;
    },
    get load() {
      return [...tenants.values()].reduce((sum, lanes) => sum + lanes.load, 0);
    },
    async stop() {
      stopped = true;
      await Promise.allSettled(open);
    },
  };
}
