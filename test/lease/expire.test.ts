import { expect, test } from 'vitest';
import { decide } from '../../src/lease/decide.ts';
import { told } from './answers.ts';
import { expire, hold, ordinary, policy, reservation, state, withSession } from './states.ts';

test.each([
  { guarantee: 'a lapsed lease ends once, with its session, by nobody', given: withSession, told: { session: 's1' } },
  { guarantee: 'a lapsed reservation escalates, told as reserved', given: reservation, told: { reserved: true } },
  {
    guarantee: 'a lapse is settled on a terminal node too',
    given: state({ hold: {}, node: { status: 'done' } }),
    told: {},
  },
  {
    guarantee: 'a lapse is settled on a node that is no work any more',
    given: state({ hold: {}, node: { type: 'note' } }),
    told: {},
  },
])('$guarantee', ({ given, told: fields }) => {
  const { outcome, next, events } = decide(given, expire(7n), 1_000_000, policy);
  expect(outcome).toEqual({ kind: 'swept', found: 'lapsed' });
  expect(next).toEqual({ ...given, lease: { fence: 7n, hold: null } });
  expect(events).toEqual([told('EXPIRED', { ...fields, actor: null })]);
  expect(decide(next, expire(7n), 1_000_001, policy)).toEqual({
    outcome: { kind: 'swept', found: 'gone' },
    next,
    events: [],
  });
});

test('a lease that was renewed meanwhile lives on, and only the next look moves', () => {
  const renewed = state({ hold: { expiresAt: 1_060_000, sweepAt: 1_000_000 } });
  const { outcome, next, events } = decide(renewed, expire(7n), 1_000_000, policy);
  expect(outcome).toEqual({ kind: 'swept', found: 'alive' });
  expect(next.lease).toEqual({ fence: 7n, hold: hold({ expiresAt: 1_060_000, sweepAt: 1_060_000 }) });
  expect(events).toEqual([]);
});

test.each([
  { guarantee: 'a newer lease in force', given: ordinary, fence: 6n, at: 970_000 },
  { guarantee: 'a newer lease that has lapsed too', given: ordinary, fence: 6n, at: 1_000_000 },
  { guarantee: 'a lease with a lower fence', given: ordinary, fence: 8n, at: 1_000_000 },
  { guarantee: 'a node just released', given: state(), fence: 7n, at: 1_000_000 },
])('a look sent for another lease leaves $guarantee', ({ given, fence, at }) => {
  const decision = decide(given, expire(fence), at, policy);
  expect(decision.outcome).toEqual({ kind: 'swept', found: 'gone' });
  expect(decision.next).toBe(given);
  expect(decision.events).toEqual([]);
});
