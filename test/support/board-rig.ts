import type { Engine } from '../../src/engine/engine.ts';
import type { BoardMessage } from '../../src/events/board.ts';
import { type Boards, type BoardsParts, createBoards } from '../../src/events/boards.ts';
import { createRelay, type Relay } from '../../src/events/relay.ts';
import type { PrismaClient } from '../../src/generated/prisma/client.ts';
import type { Command } from '../../src/lease/command.ts';
import type { LeaseView } from '../../src/lease/refusal.ts';
import { type LeaseFilter, listLeases } from '../../src/read/lease-list.ts';
import { createEngineRig, type EngineRig, TENANT } from './rig.ts';

/** Boards as a server has them, with the doorbell wired by hand, on a database of their own. */
export interface BoardRig {
  readonly database: EngineRig['database'];
  /** Another server, until `clear`. */
  serve(parts?: Partial<BoardsParts>): Server;
  /** Called before each read of the boards. */
  beforeRead: (sql: string) => unknown;
  /** New nodes, in a project of their own. */
  nodes(count: number): Promise<{ readonly ids: string[]; readonly project: string }>;
  /** A board as its subscriber keeps it. */
  keep(messages: AsyncIterator<BoardMessage>): KeptBoard;
  /** What the list says. */
  listed(filter: LeaseFilter): Promise<string[]>;
  /** Does this at `clear`. */
  atEnd(action: () => unknown): void;
  clear(): Promise<void>;
  close(): Promise<void>;
}

export interface Server {
  readonly boards: Boards;
  readonly relay: Relay;
  /** Runs commands here, so that the boards here are told. */
  run(...commands: Command[]): Promise<unknown>;
  /** Runs commands as another replica does. */
  runElsewhere(...commands: Command[]): Promise<unknown>;
}

export interface KeptBoard {
  readonly leases: ReadonlyMap<string, LeaseView>;
  readonly told: readonly BoardMessage[];
  next(): Promise<BoardMessage>;
  /** How many changes were told of a node. */
  changesOf(nodeId: string): number;
  complete(): Promise<void>;
  /** Reads until the lease of a node is told. */
  until(nodeId: string): Promise<void>;
}

export async function createBoardRig(): Promise<BoardRig> {
  const rig = await createEngineRig();
  const elsewhere: Engine = rig.another();
  const log = { warn: () => {} };
  let stops: (() => unknown)[] = [];
  let made = 0;
  const board: BoardRig = {
    database: rig.database,
    beforeRead: () => {},
    serve(parts = {}) {
      const reads = watched(rig.clients.reads, (sql) => board.beforeRead(sql));
      const relay = createRelay({ reads, log });
      const boards = createBoards({ reads, relay, log, ...parts });
      const engine = rig.another({ onEvents: () => relay.ring(), onMoved: boards.moved });
      relay.start();
      stops.push(() => Promise.all([relay.stop(), boards.stop()]));
      return {
        boards,
        relay,
        run: (...commands) => engine.execute(TENANT, commands),
        async runElsewhere(...commands) {
          await elsewhere.execute(TENANT, commands);
          relay.ring();
        },
      };
    },
    async nodes(count) {
      const project = `p${made}`;
      const ids = Array.from({ length: count }, (_, index) => `b${String(made + index).padStart(6, '0')}`);
      made += count;
      await rig.addNodes(ids, { project });
      return { ids, project };
    },
    keep(messages) {
      stops.push(() => messages.return?.());
      return keep(messages);
    },
    async listed(filter) {
      const { rows } = await listLeases(rig.clients.reads, TENANT, filter, { order: 'AGE', limit: 5_000, after: null });
      return rows.map(({ item }) => shown(item)).sort();
    },
    atEnd(action) {
      stops.push(action);
    },
    async clear() {
      for (const stop of stops.reverse()) await stop();
      stops = [];
      board.beforeRead = () => {};
    },
    close: () => rig.close(),
  };
  return board;
}

/** A client that says what it is about to read. */
function watched(client: PrismaClient, before: (sql: string) => unknown): PrismaClient {
  return new Proxy(client, {
    get(target, name) {
      if (name !== '$queryRawUnsafe') return Reflect.get(target, name);
      return async (sql: string, ...values: unknown[]) => {
        await before(sql);
        return target.$queryRawUnsafe(sql, ...values);
      };
    },
  });
}

function keep(messages: AsyncIterator<BoardMessage>): KeptBoard {
  const leases = new Map<string, LeaseView>();
  const told: BoardMessage[] = [];
  async function next(): Promise<BoardMessage> {
    const { value, done } = await messages.next();
    if (done) throw new Error('the board ended');
    told.push(value);
    if (value.kind === 'snapshot') for (const lease of value.leases) leases.set(lease.nodeId, lease);
    if (value.kind === 'change') {
      if (value.lease === null) leases.delete(value.nodeId);
      else leases.set(value.nodeId, value.lease);
    }
    return value;
  }
  return {
    leases,
    told,
    next,
    changesOf: (nodeId) => told.filter((each) => each.kind === 'change' && each.nodeId === nodeId).length,
    async complete() {
      for (let part = await next(); part.kind !== 'snapshot' || !part.complete; part = await next());
    },
    async until(nodeId) {
      while (!leases.has(nodeId)) await next();
    },
  };
}

/** A lease as it is compared: all but the time left. */
export const shown = ({ nodeId, fence, holder, agent, session, claimedAt, expiresAt, reserved }: LeaseView) =>
  JSON.stringify([nodeId, String(fence), holder, agent, session, claimedAt, expiresAt, reserved]);
