import type { LeaseEvent } from './event.ts';
import type { LeaseView, Refusal } from './refusal.ts';
import type { NodeState } from './state.ts';

/** The caller holds the lease: the answer of claim, renew, extend and reserve. */
export interface Held {
  readonly kind: 'held';
  readonly status: 'claimed' | 'renewed' | 'extended' | 'reserved';
  readonly lease: LeaseView;
  /** Whether the assigned edge was written now; null on verbs that do not say. */
  readonly edge: 'added' | 'skipped' | null;
  /** A free or lapsed node was taken on the way. */
  readonly reclaimed: boolean;
  /** The ceiling that an extension ran into, ms; null when it did not. */
  readonly cappedToMs: number | null;
  /** The grace window of a reservation, ms; null on other verbs. */
  readonly graceWindowMs: number | null;
}

export interface Released {
  readonly kind: 'released';
  readonly edge: 'removed' | 'skipped';
  /** Whether a lease in force ended by it. */
  readonly ended: boolean;
}

export interface StatusSet {
  readonly kind: 'status-set';
  readonly status: string;
  readonly revision: bigint;
  readonly warnings: readonly string[];
  /** The claim that an active status makes; null for other statuses and for types without a lease. */
  readonly claim: Held | Refusal | null;
}

export interface NodePut {
  readonly kind: 'node-put';
  readonly status: 'created' | 'updated' | 'skipped' | 'failed';
  readonly error: string | null;
}

export interface EdgeSet {
  readonly kind: 'edge-set';
  readonly status: 'updated' | 'skipped';
  readonly revision: bigint;
}

export interface Broken {
  readonly kind: 'broken';
  /** The lease that was ended; null when nobody held the node. */
  readonly lease: LeaseView | null;
}

/** What the sweep's look found: it ended the lease, found it alive, or found another one there. */
export interface Swept {
  readonly kind: 'swept';
  readonly found: 'lapsed' | 'alive' | 'gone';
}

export type Outcome = Held | Released | StatusSet | NodePut | EdgeSet | Broken | Swept | Refusal;

/** What a rule decided: the answer, the state after it, and the durable events it made, in order. */
export interface Decision<O extends Outcome = Outcome> {
  readonly outcome: O;
  readonly next: NodeState;
  readonly events: readonly LeaseEvent[];
}

/** A refusal: the answer is all there is. */
export function refuse<O extends Outcome>(state: NodeState, outcome: O): Decision<O> {
  return { outcome, next: state, events: [] };
}
