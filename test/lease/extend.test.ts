import { describe, expect, test } from 'vitest';
import { refuseMalformed } from '../../src/lease/check-input.ts';
import { decide } from '../../src/lease/decide.ts';
import { expectRefused, held, told, view } from './answers.ts';
import { ana, bo, extend, hold, ordinary, policy, reservation, state } from './states.ts';

test('an own lease is stretched from its end, and the stretch is told', () => {
  const { outcome, next, events } = decide(ordinary, extend(ana, 100_000), 970_000, policy);
  expect(outcome).toEqual({
    kind: 'held',
    status: 'extended',
    lease: view({ expiresAt: 1_100_000, expiresInMs: 130_000 }),
    edge: null,
    reclaimed: false,
    cappedToMs: null,
    graceWindowMs: null,
  });
  expect(next.lease).toEqual({ fence: 7n, hold: hold({ expiresAt: 1_100_000 }) });
  expect(events).toEqual([told('EXTENDED', { expiresAt: 1_100_000 })]);
});

describe('the ceiling is claim_ttl_max from now', () => {
  test.each([
    { guarantee: 'a stretch below it is not capped', end: 1_000_000, ms: 449_999, expiresAt: 1_449_999, capped: null },
    {
      guarantee: 'a stretch exactly to it is not capped',
      end: 1_000_000,
      ms: 450_000,
      expiresAt: 1_450_000,
      capped: null,
    },
    {
      guarantee: 'a stretch past it is capped and flagged',
      end: 1_000_000,
      ms: 450_001,
      expiresAt: 1_450_000,
      capped: 480_000,
    },
    { guarantee: 'a lease at it stays and is flagged', end: 1_450_000, ms: 1, expiresAt: 1_450_000, capped: 480_000 },
    {
      guarantee: 'a lease past it is flagged and never shortened',
      end: 1_500_000,
      ms: 1,
      expiresAt: 1_500_000,
      capped: 480_000,
    },
  ])('$guarantee', ({ end, ms, expiresAt, capped }) => {
    const given = state({ hold: { expiresAt: end } });
    const { outcome, events } = decide(given, extend(ana, ms), 970_000, policy);
    expect(held(outcome)).toMatchObject({ cappedToMs: capped, lease: { expiresAt } });
    expect(events).toEqual(expiresAt > end ? [told('EXTENDED', { expiresAt })] : []);
  });
});

test('a lapsed lease is reclaimed, then stretched from its new end', () => {
  const { outcome, next, events } = decide(ordinary, extend(ana, 100_000), 1_000_000, policy);
  expect(held(outcome)).toMatchObject({ reclaimed: true, cappedToMs: null });
  expect(next.lease).toEqual({
    fence: 8n,
    hold: hold({ claimedAt: 1_000_000, expiresAt: 1_160_000, sweepAt: 1_060_000 }),
  });
  expect(events).toEqual([
    told('EXPIRED'),
    told('RECLAIMED', { fence: 8n, expiresAt: 1_060_000 }),
    told('EXTENDED', { fence: 8n, expiresAt: 1_160_000 }),
  ]);
});

test('a reclaim is capped as well', () => {
  const { outcome } = decide(state(), extend(ana, 420_001), 970_000, policy);
  expect(held(outcome)).toMatchObject({ reclaimed: true, cappedToMs: 480_000, lease: { expiresAt: 1_450_000 } });
});

test('a reservation is resumed to an ordinary lease, then stretched: grace is no horizon to stretch', () => {
  const parked = state({ hold: { reserved: true, expiresAt: 3_000_000, sweepAt: 3_000_000 } });
  const { outcome, next, events } = decide(parked, extend(ana, 100_000), 970_000, policy);
  expect(held(outcome).cappedToMs).toBeNull();
  expect(next.lease.hold).toEqual(hold({ expiresAt: 1_130_000, sweepAt: 1_030_000 }));
  expect(events).toEqual([told('RESUMED', { expiresAt: 1_030_000 }), told('EXTENDED', { expiresAt: 1_130_000 })]);
});

test.each([
  { guarantee: "another's lease is lost", given: ordinary },
  { guarantee: "another's reservation is lost", given: reservation },
])('$guarantee', ({ given }) => {
  const refusal = expectRefused(decide(given, extend(bo, 1), 970_000, policy), given, 'lease_lost');
  expect(refusal.holder?.holder).toBe('ana');
});

describe('B05: huge or odd durations', () => {
  test.each([2 ** 31, 2 ** 53, 2 ** 63, 1e308, Number.MAX_VALUE])('%s ms is capped and flagged', (ms) => {
    expect(refuseMalformed(extend(ana, ms))).toBeNull();
    const { outcome } = decide(ordinary, extend(ana, ms), 970_000, policy);
    expect(held(outcome)).toMatchObject({ cappedToMs: 480_000, lease: { expiresAt: 1_450_000, expiresInMs: 480_000 } });
  });

  test.each([
    { ms: 0.5, expiresAt: 1_000_001 },
    { ms: Number.MIN_VALUE, expiresAt: 1_000_001 },
    { ms: 1.000_1, expiresAt: 1_000_002 },
    { ms: 2, expiresAt: 1_000_002 },
  ])('$ms ms is rounded up to whole ms', ({ ms, expiresAt }) => {
    expect(refuseMalformed(extend(ana, ms))).toBeNull();
    expect(held(decide(ordinary, extend(ana, ms), 970_000, policy).outcome).lease.expiresAt).toBe(expiresAt);
  });

  test.each([
    -1,
    0,
    -0,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    -0.5,
    '7200000',
    null,
    true,
    [5],
    undefined,
  ])('%j is a typed input error', (ms) => {
    expect(refuseMalformed(extend(ana, ms as number))).toMatchObject({ code: 'invalid_input', field: 'ms' });
  });
});
