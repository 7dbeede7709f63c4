import { describe, expect, test } from 'vitest';
import type { Command } from '../../src/lease/command.ts';
import { decide } from '../../src/lease/decide.ts';
import { holdInForce, isInForce, renewAfterMs, withEnd } from '../../src/lease/lease.ts';
import { held, kinds } from './answers.ts';
import {
  ana,
  bo,
  claim,
  expire,
  extend,
  hold,
  ordinary,
  policy,
  renew,
  reservation,
  reserve,
  withSession,
} from './states.ts';

test.each([
  { guarantee: 'before its end', now: 999_999, inForce: true },
  { guarantee: 'one microsecond before its end', now: 999_999.999, inForce: true },
  { guarantee: 'at its end', now: 1_000_000, inForce: false },
  { guarantee: 'one microsecond after its end', now: 1_000_000.001, inForce: false },
  { guarantee: 'after its end', now: 1_000_001, inForce: false },
])('a lease $guarantee is in force: $inForce', ({ now, inForce }) => {
  expect(isInForce(1_000_000, now)).toBe(inForce);
  expect(holdInForce({ fence: 7n, hold: hold() }, now)).toEqual(inForce ? hold() : null);
  expect(holdInForce({ fence: 7n, hold: null }, now)).toBeNull();
});

describe('B04: at the exact instant every verb goes by the one rule', () => {
  const byAna: Record<string, Command> = {
    claim: claim(ana),
    renew: renew(ana),
    extend: extend(ana, 5_000),
    reserve: reserve(ana),
  };
  const byBo: Record<string, Command> = {
    claim: claim(bo),
    renew: renew(bo),
    extend: extend(bo, 5_000),
    reserve: reserve(bo),
  };

  describe.each([
    { given: ordinary, of: 'a lease' },
    { given: withSession, of: 'a lease with session' },
    { given: reservation, of: 'a reservation' },
  ])('of $of', ({ given }) => {
    test.each(Object.keys(byAna))('%s by the holder, then by another, and the other way round', (verb) => {
      const [hers, his] = [byAna[verb] as Command, byBo[verb] as Command];
      for (const [now, winners] of [
        [999_999, ['ana 7', 'ana 7']],
        [1_000_000, ['ana 8', 'bo 8']],
        [1_000_001, ['ana 8', 'bo 8']],
      ] as const) {
        const orders = [
          [hers, his],
          [his, hers],
        ] as const;
        for (const [index, [first, second]] of orders.entries()) {
          const one = decide(given, first, now, policy);
          const two = decide(one.next, second, now, policy);
          const won = [one, two].flatMap(({ outcome }) => (outcome.kind === 'held' ? [outcome.lease] : []));
          expect(won.map((lease) => `${lease.holder} ${lease.fence}`)).toEqual([winners[index]]);
        }
      }
    });

    test.each([
      { now: 999_999, found: 'alive' },
      { now: 1_000_000, found: 'lapsed' },
      { now: 1_000_001, found: 'lapsed' },
    ])('the sweep at $now finds it $found', ({ now, found }) => {
      expect(decide(given, expire(7n), now, policy).outcome).toEqual({ kind: 'swept', found });
    });
  });

  test('the sweep before or after a reclaim ends the old lease once and the new one never', () => {
    const swept = decide(ordinary, expire(7n), 1_000_000, policy);
    const late = decide(swept.next, renew(ana), 1_000_000, policy);
    expect([...kinds(swept), ...kinds(late)]).toEqual(['EXPIRED', 'RECLAIMED']);

    const early = decide(ordinary, renew(ana), 1_000_000, policy);
    const sweptLate = decide(early.next, expire(7n), 1_000_000, policy);
    expect([...kinds(early), ...kinds(sweptLate)]).toEqual(['EXPIRED', 'RECLAIMED']);
    expect(sweptLate.next).toBe(early.next);
  });
});

test.each([
  { guarantee: 'a nearer end brings the sweep forward', end: 990_000, sweepAt: 990_000 },
  { guarantee: 'a farther end leaves the sweep where it was', end: 1_060_000, sweepAt: 1_000_000 },
])('$guarantee', ({ end, sweepAt }) => {
  expect(withEnd(hold(), end)).toEqual(hold({ expiresAt: end, sweepAt }));
});

describe('the next heartbeat is wanted after a third to a half of the time left', () => {
  test.each([
    { left: 2_700_000, spread: 0, after: 900_000 },
    { left: 2_700_000, spread: 0.5, after: 1_125_000 },
    { left: 2_700_000, spread: 1, after: 1_350_000 },
    { left: 1_000, spread: 0, after: 334 },
    { left: 1_000, spread: 1, after: 500 },
    { left: 1_001, spread: 1, after: 500 },
  ])('$left ms with spread $spread: $after ms', ({ left, spread, after }) => {
    expect(renewAfterMs(left, spread)).toBe(after);
  });

  test('whatever is left and however the dice fall', () => {
    for (let left = 2; left <= 3_000; left += 1) {
      for (const spread of [0, 0.001, 0.25, 0.5, 0.75, 0.999, 1]) {
        const after = renewAfterMs(left, spread);
        expect(after >= left / 3 && after <= left / 2, `${after} of ${left}`).toBe(true);
      }
    }
  });
});

test('a fence goes on past what a number can count', () => {
  const far = { ...ordinary, lease: { fence: 9_007_199_254_740_993n, hold: null } };
  expect(held(decide(far, claim(ana), 970_000, policy).outcome).lease.fence).toBe(9_007_199_254_740_994n);
});
