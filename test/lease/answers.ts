import { expect } from 'vitest';
import { assignedEdge } from '../../src/lease/command.ts';
import type { EventKind, LeaseEvent } from '../../src/lease/event.ts';
import type { Decision, Held, Outcome } from '../../src/lease/outcome.ts';
import type { LeaseView, Refusal, RefusalCode } from '../../src/lease/refusal.ts';
import { hasEdge, type NodeState } from '../../src/lease/state.ts';
import { ana, NODE } from './states.ts';

/**
 * What is answered and told. Unless a row says otherwise it is about ana's lease with
 * fence 7, from 940_000 to 1_000_000, seen at 970_000.
 */

export function view(fields: Partial<LeaseView> = {}): LeaseView {
  return {
    nodeId: NODE,
    fence: 7n,
    holder: 'ana',
    agent: null,
    session: null,
    claimedAt: 940_000,
    expiresAt: 1_000_000,
    expiresInMs: 30_000,
    reserved: false,
    ...fields,
  };
}

/** An event of a lease. */
export function told(kind: EventKind, fields: Partial<LeaseEvent> = {}): LeaseEvent {
  return {
    kind,
    nodeId: NODE,
    project: 'atlas',
    holder: 'ana',
    session: null,
    fence: 7n,
    actor: ana,
    expiresAt: 1_000_000,
    reserved: false,
    status: null,
    ...fields,
  };
}

/** An event of the node, where no lease is meant. */
export function toldOfNode(kind: EventKind, fields: Partial<LeaseEvent> = {}): LeaseEvent {
  return told(kind, { holder: null, fence: null, expiresAt: null, ...fields });
}

export function kinds(decision: Decision): EventKind[] {
  return decision.events.map((event) => event.kind);
}

export function held(outcome: Outcome | null): Held {
  if (outcome?.kind !== 'held') throw new Error(`not held: ${outcome?.kind}`);
  return outcome;
}

/** A refusal has this code, changed nothing and told nobody. */
export function expectRefused(decision: Decision, state: NodeState, code: RefusalCode): Refusal {
  expect(decision.outcome).toMatchObject({ kind: 'refused', code });
  expect(decision.next).toBe(state);
  expect(decision.events).toEqual([]);
  return decision.outcome as Refusal;
}

export function isAssigned(state: NodeState, person: string): boolean {
  return hasEdge(state, assignedEdge(NODE, person));
}
