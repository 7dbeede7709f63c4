import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Command, Edge } from '../lease/command.ts';
import { decide } from '../lease/decide.ts';
import type { LeaseEvent } from '../lease/event.ts';
import { holdInForce, NEVER_HELD } from '../lease/lease.ts';
import { isActive } from '../lease/node-status.ts';
import type { Outcome } from '../lease/outcome.ts';
import { edgeKey, type NodeState, withEdge, withoutEdge } from '../lease/state.ts';
import { appendEvents } from './append-events.ts';
import type { HeldCount } from './held-count.ts';
import { type Locked, lock } from './lock.ts';
import { type NetChange, netChange, type Step } from './net-change.ts';
import { type BatchState, edgesOf, readState } from './read-state.ts';
import { standsWithoutLock } from './stands-without-lock.ts';
import { inTransaction } from './transaction.ts';
import { write } from './write.ts';

/**
 * One batch: any commands of one tenant in one transaction, as if they had been called one after the other.
 *
 *   lock -> read -> decide each in order -> write the net change -> append the events -> commit
 *
 * At most four statements between begin and commit, whatever the number of commands. A command whose lease row another
 * transaction has locked is not answered here: it comes back as BUSY, with every later command on that node.
 */
export const BUSY = Symbol('busy');

/** Where a batch can be made to wait, for tests of what happens between its steps. */
export type PausePoint = 'locked' | 'decided' | 'written' | 'committed';

export interface BatchParts {
  readonly client: PrismaClient;
  readonly heldCount: HeldCount;
  /** Told after a commit that wrote events of this tenant. */
  readonly onEvents?: (tenantId: string) => void;
  /** Told after a commit that wrote leases of this tenant; gives, when asked, the nodes of those without an event. */
  readonly onMoved?: (tenantId: string, nodeIds: () => Iterable<string>) => void;
  readonly pause?: (point: PausePoint, commands: readonly Command[]) => Promise<void>;
  /** Only a test that shows what it is for replaces it. */
  readonly difference?: typeof netChange;
}

export type BatchAnswer = Outcome | typeof BUSY;

/** Runs a batch. Throws as `inTransaction` does; then no command of it was answered. */
export async function runBatch(
  parts: BatchParts,
  tenantId: string,
  commands: readonly Command[],
): Promise<readonly BatchAnswer[]> {
  const { client, heldCount, pause, difference = netChange } = parts;
  const { answers, change, events, held } = await inTransaction(client, async (tx) => {
    const locked = await lock(tx, tenantId, commands);
    await pause?.('locked', commands);
    const count = heldCount.due(tenantId, mayTake(commands, locked));
    const state = await readState(tx, tenantId, commands, locked, count);
    const decided = decideAll(state, commands);
    await pause?.('decided', commands);
    const change = difference(decided.steps);
    await write(tx, tenantId, change, state.now);
    await appendEvents(tx, tenantId, decided.events, state.now, batchNumber());
    await pause?.('written', commands);
    const { answers, events, held: people } = decided;
    return { answers, change, events, held: { people, limit: state.policyOf(null).heldMax } };
  });
  if (events.length > 0) parts.onEvents?.(tenantId);
  if (change.leases.length > 0) parts.onMoved?.(tenantId, () => movedQuietly(change, events));
  heldCount.remember(tenantId, held.people, held.limit);
  await pause?.('committed', commands);
  return answers;
}

/** The nodes whose leases moved without an event. */
function movedQuietly({ leases }: NetChange, events: readonly LeaseEvent[]): ReadonlySet<string> {
  const moved = new Set(leases.map(({ nodeId }) => nodeId));
  for (const { nodeId } of events) moved.delete(nodeId);
  return moved;
}

interface Decided {
  readonly answers: readonly BatchAnswer[];
  readonly steps: readonly Step[];
  readonly events: readonly LeaseEvent[];
  readonly held: ReadonlyMap<string, number>;
}

/** Decides each command in order of arrival, the state of its node threaded from one to the next. */
function decideAll(state: BatchState, commands: readonly Command[]): Decided {
  const after = new Map<string, NodeState>();
  const busy = new Set<string>();
  const held = new Map(state.held);
  const written = new Map<string, 'added' | 'removed'>();
  const steps: Step[] = [];
  const events: LeaseEvent[] = [];
  const answers = commands.map((command): BatchAnswer => {
    const { nodeId } = command;
    if (busy.has(nodeId)) return BUSY;
    const current = withWritten(
      after.get(nodeId) ?? stateOf(state, nodeId),
      edgesOf(command, state.leases.get(nodeId)),
      written,
    );
    const caller = command.verb === 'expire' ? null : command.caller.person;
    const asked = { ...current, held: caller === null ? null : (held.get(caller) ?? null) };
    const {
      outcome,
      next,
      events: made,
    } = decide(asked, command, state.now, state.policyOf(current.node?.project ?? null));
    if (!state.locked.has(nodeId) && !standsWithoutLock(command, current.lease, outcome)) {
      busy.add(nodeId);
      return BUSY;
    }
    if (next !== asked) {
      after.set(nodeId, next);
      steps.push({ nodeId, before: current, after: next });
      note(written, current, next);
      tally(held, current, next, state.now);
    }
    events.push(...made);
    return outcome;
  });
  return { answers, steps, events, held };
}

/** The state with what earlier commands on other nodes did to its edges: two nodes may name the same edge. */
function withWritten(
  state: NodeState,
  edges: readonly Edge[],
  written: ReadonlyMap<string, 'added' | 'removed'>,
): NodeState {
  return edges.reduce((seen, edge) => {
    const what = written.get(edgeKey(edge));
    if (what === undefined) return seen;
    return what === 'added' ? withEdge(seen, edge) : withoutEdge(seen, edge);
  }, state);
}

/** Notes the edges that a decision added or removed. */
function note(written: Map<string, 'added' | 'removed'>, before: NodeState, after: NodeState): void {
  if (before.edges === after.edges) return;
  for (const key of after.edges.keys()) if (!before.edges.has(key)) written.set(key, 'added');
  for (const key of before.edges.keys()) if (!after.edges.has(key)) written.set(key, 'removed');
}

function stateOf(state: BatchState, nodeId: string): NodeState {
  return {
    node: state.nodes.get(nodeId) ?? null,
    lease: state.leases.get(nodeId) ?? NEVER_HELD,
    edges: state.edges.get(nodeId) ?? new Map(),
    person: null,
    held: null,
  };
}

/** Keeps the counts of leases in force true through the batch. */
function tally(held: Map<string, number>, before: NodeState, after: NodeState, now: number): void {
  const [was, is] = [holdInForce(before.lease, now)?.holder, holdInForce(after.lease, now)?.holder];
  if (was === is) return;
  for (const [person, by] of [
    [was, -1],
    [is, 1],
  ] as const) {
    const count = person === undefined ? undefined : held.get(person);
    if (person !== undefined && count !== undefined) held.set(person, count + by);
  }
}

/**
 * How many nodes each caller may be granted. Only a locked row can be, and an own lease in force is not, unless a
 * command of the batch may free it first.
 */
function mayTake(commands: readonly Command[], { leases, now }: Locked): ReadonlyMap<string, number> {
  const takes = new Map<string, number>();
  const freed = new Set<string>();
  for (const command of commands) {
    const lease = leases.get(command.nodeId);
    if (lease === undefined || command.verb === 'expire') continue;
    const { person } = command.caller;
    if (command.verb === 'release' || command.verb === 'break') freed.add(command.nodeId);
    const own = holdInForce(lease, now)?.holder === person && !freed.has(command.nodeId);
    if (isGranting(command) && !own) takes.set(person, (takes.get(person) ?? 0) + 1);
  }
  return takes;
}

function isGranting(command: Command): boolean {
  switch (command.verb) {
    case 'claim':
      return true;
    case 'renew':
    case 'extend':
    case 'reserve':
      return command.fence === null;
    case 'set-status':
      return isActive(command.status);
    default:
      return false;
  }
}

/** A random positive number of 63 bits. */
function batchNumber(): bigint {
  const [bits = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  return bits >> 1n;
}
