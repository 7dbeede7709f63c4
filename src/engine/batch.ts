import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Command } from '../lease/command.ts';
import { decide } from '../lease/decide.ts';
import type { LeaseEvent } from '../lease/event.ts';
import { holdInForce, NEVER_HELD } from '../lease/lease.ts';
import { isActive } from '../lease/node-status.ts';
import type { Outcome } from '../lease/outcome.ts';
import type { NodeState } from '../lease/state.ts';
import { appendEvents } from './append-events.ts';
import type { HeldCount } from './held-count.ts';
import { type Locked, lock } from './lock.ts';
import { netChange, type Step } from './net-change.ts';
import { type BatchState, readState } from './read-state.ts';
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
  const { answers, held } = await inTransaction(client, async (tx) => {
    const locked = await lock(tx, tenantId, commands);
    await pause?.('locked', commands);
    const count = heldCount.due(tenantId, peopleWhoMayTake(commands, locked));
    const state = await readState(tx, tenantId, commands, locked, count);
    const decided = decideAll(state, commands);
    await pause?.('decided', commands);
    await write(tx, tenantId, difference(decided.steps), state.now);
    await appendEvents(tx, tenantId, decided.events, state.now, batchNumber());
    await pause?.('written', commands);
    return { answers: decided.answers, held: { people: decided.held, limit: state.policyOf(null).heldMax } };
  });
  heldCount.remember(tenantId, held.people, held.limit);
  await pause?.('committed', commands);
  return answers;
}

interface Decided {
  readonly answers: readonly BatchAnswer[];
  readonly steps: readonly Step[];
  readonly events: readonly LeaseEvent[];
  readonly held: ReadonlyMap<string, number>;
}

/** Decides each command in order of arrival, the state of its node threaded from one to the next. */
function decideAll(state: BatchState, commands: readonly Command[]): Decided {
  const before = new Map<string, NodeState>();
  const after = new Map<string, NodeState>();
  const busy = new Set<string>();
  const held = new Map(state.held);
  const events: LeaseEvent[] = [];
  const answers = commands.map((command): BatchAnswer => {
    const { nodeId } = command;
    if (busy.has(nodeId)) return BUSY;
    const current = after.get(nodeId) ?? stateOf(state, nodeId);
    if (!before.has(nodeId)) before.set(nodeId, current);
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
    after.set(nodeId, next === asked ? current : next);
    tally(held, current, next, state.now);
    events.push(...made);
    return outcome;
  });
  const steps = [...after].map(([nodeId, last]) => ({ nodeId, before: before.get(nodeId) as NodeState, after: last }));
  return { answers, steps, events, held };
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

/** Callers with a command that may be granted a node they do not hold. */
function peopleWhoMayTake(commands: readonly Command[], { leases, now }: Locked): ReadonlySet<string> {
  const people = new Set<string>();
  for (const command of commands) {
    const takes =
      command.verb === 'claim' ||
      (command.verb === 'set-status' && isActive(command.status)) ||
      (command.verb === 'renew' || command.verb === 'extend' || command.verb === 'reserve'
        ? command.fence === null
        : false);
    if (!takes || !('caller' in command)) continue;
    const lease = leases.get(command.nodeId);
    const own = lease !== undefined && holdInForce(lease, now)?.holder === command.caller.person;
    if (!own) people.add(command.caller.person);
  }
  return people;
}

/** A random positive number of 63 bits. */
function batchNumber(): bigint {
  return crypto.getRandomValues(new BigUint64Array(1))[0]! >> 1n;
}
