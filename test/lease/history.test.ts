import fc from 'fast-check';
import '../support/seed.ts';
import { expect, test } from 'vitest';
import type { Caller, Command, Edge, NodeFields } from '../../src/lease/command.ts';
import { decide } from '../../src/lease/decide.ts';
import type { LeaseEvent } from '../../src/lease/event.ts';
import { holdInForce } from '../../src/lease/lease.ts';
import type { Decision } from '../../src/lease/outcome.ts';
import type { Policy } from '../../src/lease/policy.ts';
import type { NodeState } from '../../src/lease/state.ts';
import { isAssigned } from './answers.ts';
import {
  ana,
  anasAgent,
  bo,
  claim,
  expire,
  extend,
  NODE,
  putNode,
  release,
  renew,
  reserve,
  setStatus,
  state,
} from './states.ts';

/** One node through random commands of several callers at random times, under policies that change on the way. */

const POLICIES: readonly Policy[] = [
  { claimTtlMs: 60_000, claimTtlMaxMs: 480_000, reserveGraceMs: 300_000, bulkMax: 100, heldMax: 3 },
  { claimTtlMs: 5_000, claimTtlMaxMs: 5_000, reserveGraceMs: 1_000, bulkMax: 100, heldMax: 3 },
];
const blocks: Edge = { from: NODE, type: 'blocks', to: 'task-2' };
const fields: Required<NodeFields> = {
  type: 'task',
  title: null,
  status: 'open',
  project: 'atlas',
  priority: null,
  summary: null,
  body: null,
  date: null,
  neededBy: null,
  extra: {},
};
const BEGINNINGS = ['CLAIMED', 'RECLAIMED'];
const ENDINGS = ['RELEASED', 'EXPIRED', 'SUPERSEDED', 'BROKEN'];

const caller = fc.constantFrom<Caller>(ana, ana, anasAgent, bo);
const session = fc.constantFrom(null, 's1', 's2');
const dispatch = fc.constantFrom(null, 'launch-1', 'launch-2');
const fence = fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.bigInt(0n, 12n));
const ms = fc.oneof(fc.integer({ min: 1, max: 600_000 }), fc.constantFrom(0.5, 1e308));
const status = fc.constantFrom('open', 'active', 'done', 'abandoned', 'merged');

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ caller, session, dispatch, force: fc.boolean() }).map((c) => claim(c.caller, c)),
  fc.record({ caller, session, fence }).map((c) => renew(c.caller, c)),
  fc.record({ caller, session, fence, ms }).map((c) => extend(c.caller, c.ms, c)),
  fc.record({ caller, session, fence }).map((c) => reserve(c.caller, c)),
  fc.record({ caller, fence }).map((c) => release(c.caller, c)),
  fc.record({ caller, status }).map((c) => setStatus(c.caller, c.status)),
  fc
    .record({ caller, title: fc.constantFrom('Retry emails', 'Retry all'), edges: fc.constantFrom([], [blocks]) })
    .map(({ title, ...c }) => putNode({ ...c, fields: { type: 'task', title }, ifExists: 'update' })),
  fc.bigInt(0n, 12n).map(expire),
);

const step = fc.record({
  command,
  // Leases of this node often end after exactly one of these, so that ends are met as well as missed.
  later: fc.constantFrom(0, 0, 1, 999, 1_000, 5_000, 30_000, 60_000, 300_000),
  policy: fc.constantFrom(...POLICIES),
  held: fc.constantFrom(null, null, null, 2, 3),
});

interface Moment {
  readonly before: NodeState;
  readonly command: Command;
  readonly now: number;
  readonly policy: Policy;
  readonly decision: Decision;
}

function* run(steps: readonly { command: Command; later: number; policy: Policy; held: number | null }[]) {
  let current = state({ fence: 0n, node: { fields } });
  let now = 1_000_000;
  for (const { command, later, policy, held } of steps) {
    now += later;
    const before = { ...current, held };
    const decision = decide(before, command, now, policy);
    yield { before, command, now, policy, decision } satisfies Moment;
    current = decision.next;
  }
}

function always(holds: (moment: Moment) => void, runs = 1_000) {
  const property = fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
    for (const moment of run(steps)) holds(moment);
  });
  fc.assert(property, { numRuns: runs });
}

const isGrant = (event: LeaseEvent): boolean => BEGINNINGS.includes(event.kind);

test('a fence rises by every grant, by one, and moves by nothing else', () => {
  always(({ before, decision: { next, events } }) => {
    const grants = events.filter(isGrant).map((event) => event.fence);
    expect(grants.length).toBeLessThanOrEqual(1);
    expect(next.lease.fence).toBe(before.lease.fence + BigInt(grants.length));
    if (grants.length > 0) expect(grants).toEqual([next.lease.fence]);
  });
});

test('each grant has one beginning and at most one ending, in order, and a lease that is gone has its ending', () => {
  const property = fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
    const moments = [...run(steps)];
    const ofFence = new Map<bigint, string[]>();
    for (const { fence, kind } of moments.flatMap(({ decision }) => decision.events)) {
      if (fence !== null) ofFence.set(fence, [...(ofFence.get(fence) ?? []), kind]);
    }
    const last = moments.at(-1)?.decision.next.lease;
    for (const [fence, kinds] of ofFence) {
      expect(kinds.map((kind) => BEGINNINGS.includes(kind))).toEqual(kinds.map((_, index) => index === 0));
      const ends = kinds.map((kind) => ENDINGS.includes(kind));
      const stands = fence === last?.fence && last.hold !== null;
      expect(ends).toEqual(kinds.map((_, index) => !stands && index === kinds.length - 1));
    }
    expect(ofFence.size).toBe(Number(last?.fence));
  });
  fc.assert(property, { numRuns: 1_000 });
});

test('an own ordinary lease is never shortened while it stays ordinary', () => {
  always(({ before, now, decision: { next } }) => {
    const [was, is] = [holdInForce(before.lease, now), next.lease.hold];
    if (was === null || is === null || next.lease.fence !== before.lease.fence || was.reserved || is.reserved) return;
    expect(is.expiresAt).toBeGreaterThanOrEqual(was.expiresAt);
  });
});

test('an end that moves stays within the bound of the policy at that moment', () => {
  always(({ before, command, now, policy, decision: { next } }) => {
    const is = next.lease.hold;
    if (is === null || (is.expiresAt === before.lease.hold?.expiresAt && next.lease.fence === before.lease.fence))
      return;
    const ordinary = command.verb === 'extend' ? policy.claimTtlMaxMs : policy.claimTtlMs;
    expect(is.expiresAt).toBeLessThanOrEqual(now + (is.reserved ? policy.reserveGraceMs : ordinary));
    expect(is.expiresAt).toBeGreaterThan(now);
    expect(Number.isInteger(is.expiresAt)).toBe(true);
  });
});

test('every success leaves the caller a lease in force, as answered', () => {
  always(({ command, now, decision: { outcome, next } }) => {
    if (outcome.kind !== 'held' || command.verb === 'expire') return;
    expect(holdInForce(next.lease, now)).toMatchObject({ holder: command.caller.person, agent: command.caller.agent });
    expect(outcome.lease).toMatchObject({ fence: next.lease.fence, expiresAt: next.lease.hold?.expiresAt });
    expect(outcome.lease.expiresInMs).toBeGreaterThan(0);
  });
});

test('a lease in force has its assigned edge, and nobody loses the edge of a lease in force', () => {
  always(({ now, decision: { next } }) => {
    const is = holdInForce(next.lease, now);
    if (is !== null) expect(isAssigned(next, is.holder)).toBe(true);
  });
});

test("nobody but the sweep's look touches another's lease in force, and the sweep leaves its end", () => {
  always(({ before, command, now, decision: { next } }) => {
    const was = holdInForce(before.lease, now);
    if (was === null) return;
    if (command.verb === 'expire') {
      expect(next.lease).toEqual({ ...before.lease, hold: { ...was, sweepAt: next.lease.hold?.sweepAt } });
    } else if (command.caller.person !== was.holder) {
      expect(next.lease).toBe(before.lease);
    }
  });
});

test('a refusal changes nothing and tells nobody', () => {
  always(({ before, decision: { outcome, next, events } }) => {
    if (outcome.kind !== 'refused') return;
    expect(next).toBe(before);
    expect(events).toEqual([]);
  });
});

test('a terminal node is never granted, and neither is one past the limit', () => {
  always(({ before, command, decision: { next, events } }) => {
    if (!events.some(isGrant) || (command.verb === 'claim' && command.force)) return;
    expect(next.node?.status).toMatch(/^(open|active)$/);
    expect(before.held ?? 0).toBeLessThan(3);
  });
});

test('with a fence nothing is ever granted, and no reservation undone', () => {
  always(({ before, command, now, decision: { next, events } }) => {
    if (!('fence' in command) || command.fence === null || command.verb === 'expire') return;
    expect(events.filter(isGrant)).toEqual([]);
    if (command.verb !== 'release' && holdInForce(before.lease, now)?.reserved) {
      expect(next.lease.hold?.reserved).toBe(true);
    }
  });
});

test('the sweep never looks later than the end', () => {
  always(({ decision: { next } }) => {
    const is = next.lease.hold;
    if (is !== null) expect(is.sweepAt).toBeLessThanOrEqual(is.expiresAt);
  });
});
