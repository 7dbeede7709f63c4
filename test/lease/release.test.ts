import { expect, test } from 'vitest';
import { assignedEdge, type Edge } from '../../src/lease/command.ts';
import { decide } from '../../src/lease/decide.ts';
import { expectRefused, isAssigned, told, view } from './answers.ts';
import { ana, anasAgent, bo, NODE, neverHeld, ordinary, policy, release, reservation, state } from './states.ts';

const blocks: Edge = { from: NODE, type: 'blocks', to: 'task-2' };

test.each([
  { guarantee: 'an own lease ends and its edge goes', given: ordinary, reserved: false },
  { guarantee: 'an own reservation ends and its edge goes', given: reservation, reserved: true },
  {
    guarantee: 'a lease on a terminal node ends as usual',
    given: state({ hold: {}, node: { status: 'done' } }),
    reserved: false,
  },
])('$guarantee', ({ given, reserved }) => {
  const { outcome, next, events } = decide(given, release(anasAgent), 970_000, policy);
  expect(outcome).toEqual({ kind: 'released', edge: 'removed', ended: true });
  expect(next.lease).toEqual({ fence: 7n, hold: null });
  expect(isAssigned(next, 'ana')).toBe(false);
  expect(events).toEqual([told('RELEASED', { reserved, actor: anasAgent })]);
});

test.each([
  { guarantee: 'a node nobody ever held', given: neverHeld },
  { guarantee: 'a free node', given: state() },
  { guarantee: 'a free terminal node', given: state({ node: { status: 'done' } }) },
])('$guarantee is released without effect', ({ given }) => {
  const decision = decide(given, release(ana), 970_000, policy);
  expect(decision).toEqual({ outcome: { kind: 'released', edge: 'skipped', ended: false }, next: given, events: [] });
  expect(decision.next).toBe(given);
});

test('a lingering edge of the caller goes, and no other', () => {
  const given = state({ edges: [assignedEdge(NODE, 'ana'), assignedEdge(NODE, 'bo'), blocks] });
  const { outcome, next, events } = decide(given, release(ana), 970_000, policy);
  expect(outcome).toEqual({ kind: 'released', edge: 'removed', ended: false });
  expect([...next.edges.values()]).toEqual([assignedEdge(NODE, 'bo'), blocks]);
  expect(events).toEqual([]);
});

test('a lapsed own lease ends by its lapse, not by the release', () => {
  const { outcome, next, events } = decide(ordinary, release(ana), 1_000_000, policy);
  expect(outcome).toEqual({ kind: 'released', edge: 'removed', ended: false });
  expect(next.lease).toEqual({ fence: 7n, hold: null });
  expect(events).toEqual([told('EXPIRED')]);
});

test("another's lapsed lease keeps its edge", () => {
  const { outcome, next } = decide(ordinary, release(bo), 1_000_000, policy);
  expect(outcome).toEqual({ kind: 'released', edge: 'skipped', ended: false });
  expect(isAssigned(next, 'ana')).toBe(true);
});

test('a second release answers the same way and tells nobody', () => {
  const first = decide(ordinary, release(ana), 970_000, policy);
  const second = decide(first.next, release(ana), 970_001, policy);
  expect(second).toEqual({
    outcome: { kind: 'released', edge: 'skipped', ended: false },
    next: first.next,
    events: [],
  });
});

test.each([
  { guarantee: "another's lease is a conflict", given: ordinary, reserved: false },
  { guarantee: "another's reservation is a conflict", given: reservation, reserved: true },
])('$guarantee', ({ given, reserved }) => {
  const refusal = expectRefused(decide(given, release(bo), 970_000, policy), given, 'conflict');
  expect(refusal.holder).toEqual(view({ reserved }));
});

test("a refused release leaves even the caller's own lingering edge", () => {
  const given = state({ hold: {}, edges: [assignedEdge(NODE, 'ana'), assignedEdge(NODE, 'bo')] });
  expectRefused(decide(given, release(bo), 970_000, policy), given, 'conflict');
});

test.each([
  { call: 'the fence', fields: { fence: 7n }, cause: 'named' },
  { call: 'neither', fields: {}, cause: undefined },
  { call: 'its session, in a drain', fields: { fence: 7n, drain: { session: 's1' } }, cause: 'named' },
  { call: 'no session, in a drain', fields: { fence: 7n, drain: { session: null } }, cause: undefined },
  { call: 'another session, in a drain', fields: { fence: 7n, drain: { session: 's2' } }, cause: undefined },
])('keeps whether the call named the lease: $call', ({ fields, cause }) => {
  const { events } = decide(state({ hold: { session: 's1' } }), release(ana, fields), 970_000, policy);
  expect(events.map(({ kind, cause }) => [kind, cause])).toEqual([['RELEASED', cause]]);
});
