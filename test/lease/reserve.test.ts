import { expect, test } from 'vitest';
import { decide } from '../../src/lease/decide.ts';
import { expectRefused, held, isAssigned, told, view } from './answers.ts';
import { ana, anasAgent, bo, hold, ordinary, policy, reservation, reserve, state } from './states.ts';

test('an own lease is parked for one grace window, with its fence, start and edge', () => {
  const { outcome, next, events } = decide(ordinary, reserve(anasAgent), 970_000, policy);
  const lease = { agent: 'ana-agent', reserved: true, expiresAt: 3_850_000 };
  expect(outcome).toEqual({
    kind: 'held',
    status: 'reserved',
    lease: view({ ...lease, expiresInMs: 2_880_000 }),
    edge: null,
    reclaimed: false,
    cappedToMs: null,
    graceWindowMs: 2_880_000,
  });
  expect(next).toEqual({ ...ordinary, lease: { fence: 7n, hold: hold(lease) } });
  expect(events).toEqual([told('RESERVED', { reserved: true, expiresAt: 3_850_000, actor: anasAgent })]);
});

test.each([
  { guarantee: 'the grace of an own reservation restarts', given: reservation },
  { guarantee: 'a lease that ran longer than grace ends with grace', given: state({ hold: { expiresAt: 9_000_000 } }) },
  {
    guarantee: 'a reservation that ran longer than grace ends with grace',
    given: state({ hold: { reserved: true, expiresAt: 9_000_000 } }),
  },
])('$guarantee', ({ given }) => {
  const { outcome, next, events } = decide(given, reserve(ana), 970_000, policy);
  expect(held(outcome).lease).toEqual(view({ reserved: true, expiresAt: 3_850_000, expiresInMs: 2_880_000 }));
  expect(next.lease.hold).toEqual(hold({ reserved: true, expiresAt: 3_850_000 }));
  expect(events).toEqual([told('RESERVED', { reserved: true, expiresAt: 3_850_000 })]);
});

test('a grace shorter than the lease brings the sweep forward with the end', () => {
  const short = { ...policy, reserveGraceMs: 1_000 };
  expect(decide(ordinary, reserve(ana), 970_000, short).next.lease.hold).toMatchObject({
    expiresAt: 971_000,
    sweepAt: 971_000,
  });
});

test('a free node is reclaimed first, edge included', () => {
  const { outcome, next, events } = decide(state(), reserve(ana, { session: 's1' }), 970_000, policy);
  expect(held(outcome)).toMatchObject({ status: 'reserved', reclaimed: true, graceWindowMs: 2_880_000 });
  expect(next.lease).toEqual({
    fence: 8n,
    hold: hold({ session: 's1', reserved: true, claimedAt: 970_000, expiresAt: 3_850_000, sweepAt: 1_030_000 }),
  });
  expect(isAssigned(next, 'ana')).toBe(true);
  expect(events).toEqual([
    told('RECLAIMED', { fence: 8n, session: 's1', expiresAt: 1_030_000 }),
    told('RESERVED', { fence: 8n, session: 's1', reserved: true, expiresAt: 3_850_000 }),
  ]);
});

test('a lapsed own reservation ends as reserved, then is taken back', () => {
  const { events } = decide(reservation, reserve(ana), 1_000_000, policy);
  expect(events).toEqual([
    told('EXPIRED', { reserved: true }),
    told('RECLAIMED', { fence: 8n, expiresAt: 1_060_000 }),
    told('RESERVED', { fence: 8n, reserved: true, expiresAt: 3_880_000 }),
  ]);
});

test.each([
  { guarantee: "another's lease is lost", given: ordinary, reserved: false },
  { guarantee: "another's reservation is lost", given: reservation, reserved: true },
])('$guarantee', ({ given, reserved }) => {
  const refusal = expectRefused(decide(given, reserve(bo), 970_000, policy), given, 'lease_lost');
  expect(refusal.holder).toEqual(view({ reserved }));
});
