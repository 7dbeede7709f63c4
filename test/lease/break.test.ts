import { expect, test } from 'vitest';
import type { Caller } from '../../src/lease/command.ts';
import { decide } from '../../src/lease/decide.ts';
import { told } from './answers.ts';
import { ana, bo, NODE, ordinary, policy, released, reservation, state, withDispatch } from './states.ts';

const admin: Caller = { person: 'root', agent: null };
const ending = (caller: Caller, reason: string | null = null) =>
  ({ verb: 'break', nodeId: NODE, caller, reason }) as const;

test.each([
  { guarantee: 'an ordinary lease ends at once, edge included', given: ordinary, reserved: false },
  { guarantee: 'a launch is no shelter', given: withDispatch, reserved: false },
  { guarantee: 'a reservation ends too', given: reservation, reserved: true },
])('$guarantee', ({ given, reserved }) => {
  const { outcome, next, events } = decide(given, ending(admin, 'gone home'), 970_000, policy);
  expect(outcome).toMatchObject({ kind: 'broken', lease: { holder: 'ana', fence: 7n, expiresInMs: 30_000, reserved } });
  expect(next).toMatchObject({ lease: { fence: 7n, hold: null } });
  expect(next.edges.size).toBe(0);
  expect(events).toEqual([{ ...told('BROKEN', { actor: admin, reserved }), reason: 'gone home' }]);
});

test('nothing held is nothing to break, however often', () => {
  expect(decide(released, ending(admin), 970_000, policy)).toEqual({
    outcome: { kind: 'broken', lease: null },
    next: released,
    events: [],
  });
});

test('a lapse is told as a lapse, and its edge stays', () => {
  const { outcome, next, events } = decide(ordinary, ending(admin, 'late'), 1_000_000, policy);
  expect(outcome).toEqual({ kind: 'broken', lease: null });
  expect(next.edges.size).toBe(1);
  expect(events).toEqual([told('EXPIRED', { actor: admin })]);
});

test.each([
  { code: 'not_found', given: state({ node: null, fence: 0n }) },
  { code: 'invalid_node', given: state({ node: { type: 'note' } }) },
])('it refuses with $code', ({ code, given }) => {
  expect(decide(given, ending(ana), 970_000, policy)).toMatchObject({ outcome: { code }, next: given, events: [] });
});

test('an edge of another that lingers is left', () => {
  const given = state({
    hold: {},
    edges: [
      { from: NODE, type: 'assigned', to: 'ana' },
      { from: NODE, type: 'assigned', to: 'bo' },
    ],
  });
  expect([...decide(given, ending(bo), 970_000, policy).next.edges.values()].map(({ to }) => to)).toEqual(['bo']);
});
