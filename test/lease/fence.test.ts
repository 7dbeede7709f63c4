import { describe, expect, test } from 'vitest';
import { decide } from '../../src/lease/decide.ts';
import { expectRefused, held, view } from './answers.ts';
import { ana, bo, claim, extend, ordinary, policy, release, renew, reservation, reserve, state } from './states.ts';

/** Fence 7 is that of the lease in the row. */
const KEEPING = {
  renew: (fence: bigint) => renew(ana, { fence }),
  extend: (fence: bigint) => extend(ana, 5_000, { fence }),
  reserve: (fence: bigint) => reserve(ana, { fence }),
};

describe.each(Object.entries(KEEPING))('%s with a fence', (_, command) => {
  test('acts when it is that of the lease in force', () => {
    expect(held(decide(ordinary, command(7n), 970_000, policy).outcome)).toMatchObject({
      reclaimed: false,
      lease: { fence: 7n },
    });
  });

  test.each([
    {
      guarantee: 'is lost to a newer lease of the same person',
      given: ordinary,
      fence: 6n,
      at: 970_000,
      holder: view(),
    },
    { guarantee: 'is lost when no grant had it yet', given: ordinary, fence: 8n, at: 970_000, holder: view() },
    { guarantee: 'is lost when the lease has lapsed', given: ordinary, fence: 7n, at: 1_000_000, holder: null },
    {
      guarantee: 'is lost when the reservation has lapsed',
      given: reservation,
      fence: 7n,
      at: 1_000_000,
      holder: null,
    },
    { guarantee: 'never takes back a node just released', given: state(), fence: 7n, at: 970_000, holder: null },
    {
      guarantee: 'never takes a node nobody ever held',
      given: state({ fence: 0n }),
      fence: 0n,
      at: 970_000,
      holder: null,
    },
    {
      guarantee: "is lost to another's lease",
      given: state({ hold: { holder: 'bo' } }),
      fence: 6n,
      at: 970_000,
      holder: view({ holder: 'bo' }),
    },
  ])('$guarantee', ({ given, fence, at, holder }) => {
    const refusal = expectRefused(decide(given, command(fence), at, policy), given, 'lease_lost');
    expect(refusal.holder).toEqual(holder);
  });
});

describe('a fence never undoes a reservation', () => {
  test.each([
    { guarantee: 'by renew', when: renew(ana, { fence: 7n }) },
    { guarantee: 'by extend', when: extend(ana, 5_000, { fence: 7n }) },
  ])('$guarantee', ({ when }) => {
    const refusal = expectRefused(decide(reservation, when, 970_000, policy), reservation, 'lease_lost');
    expect(refusal.holder).toEqual(view({ reserved: true }));
    expect(refusal.message).toContain('a call with a fence does not undo');
  });

  test('but reserve with it restarts the grace', () => {
    const { outcome } = decide(reservation, reserve(ana, { fence: 7n }), 970_000, policy);
    expect(held(outcome).lease).toEqual(view({ reserved: true, expiresAt: 3_850_000, expiresInMs: 2_880_000 }));
  });

  test('and a stale one is stale first', () => {
    const refusal = expectRefused(
      decide(reservation, renew(ana, { fence: 6n }), 970_000, policy),
      reservation,
      'lease_lost',
    );
    expect(refusal.message).toContain('with fence 6 is no longer in force');
  });
});

describe('release with a fence', () => {
  test.each([
    { guarantee: 'ends the lease that it names', given: ordinary, fence: 7n, at: 970_000, ended: true },
    { guarantee: 'ends the reservation that it names', given: reservation, fence: 7n, at: 970_000, ended: true },
    { guarantee: 'of a lapsed lease is an ordinary release', given: ordinary, fence: 7n, at: 1_000_000, ended: false },
    {
      guarantee: 'older than a lapsed lease is an ordinary release',
      given: ordinary,
      fence: 5n,
      at: 1_000_000,
      ended: false,
    },
    { guarantee: 'of a free node is an ordinary release', given: state(), fence: 5n, at: 970_000, ended: false },
  ])('$guarantee', ({ given, fence, at, ended }) => {
    const { outcome, next } = decide(given, release(ana, { fence }), at, policy);
    expect(outcome).toMatchObject({ kind: 'released', ended });
    expect(next.lease).toEqual({ fence: 7n, hold: null });
  });

  test.each([
    { guarantee: 'leaves a newer lease of the same person', given: ordinary, fence: 6n, reserved: false },
    { guarantee: 'leaves a newer reservation of the same person', given: reservation, fence: 6n, reserved: true },
    { guarantee: 'that no grant had yet leaves the lease', given: ordinary, fence: 8n, reserved: false },
  ])('$guarantee', ({ given, fence, reserved }) => {
    const refusal = expectRefused(decide(given, release(ana, { fence }), 970_000, policy), given, 'lease_lost');
    expect(refusal.holder).toEqual(view({ reserved }));
  });

  test("of another's lease is a conflict, whatever the fence", () => {
    for (const fence of [6n, 7n]) {
      expectRefused(decide(ordinary, release(bo, { fence }), 970_000, policy), ordinary, 'conflict');
    }
  });
});

test('a late heartbeat of a superseded launch neither renews, parks nor ends its successor', () => {
  const given = state({ hold: { dispatch: 'launch-1' } });
  const { next } = decide(given, claim(ana, { dispatch: 'launch-2', force: true }), 970_000, policy);
  for (const late of [renew(ana, { fence: 7n }), reserve(ana, { fence: 7n }), release(ana, { fence: 7n })]) {
    expect(expectRefused(decide(next, late, 970_001, policy), next, 'lease_lost').holder?.fence).toBe(8n);
  }
});
