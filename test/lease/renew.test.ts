import { expect, test } from 'vitest';
import { decide } from '../../src/lease/decide.ts';
import { expectRefused, held, isAssigned, told, view } from './answers.ts';
import { ana, anasAgent, bo, hold, neverHeld, ordinary, policy, renew, reservation, state } from './states.ts';

test('the heartbeat moves only the end: no event, no new sweep, nothing said of the edge', () => {
  const { outcome, next, events } = decide(ordinary, renew(ana), 970_000, policy);
  expect(outcome).toEqual({
    kind: 'held',
    status: 'renewed',
    lease: view({ expiresAt: 1_030_000, expiresInMs: 60_000 }),
    edge: null,
    reclaimed: false,
    cappedToMs: null,
    graceWindowMs: null,
  });
  expect(next).toEqual({ ...ordinary, lease: { fence: 7n, hold: hold({ expiresAt: 1_030_000 }) } });
  expect(events).toEqual([]);
});

test.each([
  { guarantee: 'an end nearer than an ordinary lease moves out', end: 1_000_000, expiresAt: 1_030_000 },
  { guarantee: 'an end as far as an ordinary lease stays', end: 1_030_000, expiresAt: 1_030_000 },
  { guarantee: 'an end farther than an ordinary lease is never shortened', end: 1_400_000, expiresAt: 1_400_000 },
])('$guarantee', ({ end, expiresAt }) => {
  const given = state({ hold: { expiresAt: end } });
  expect(held(decide(given, renew(ana), 970_000, policy).outcome).lease.expiresAt).toBe(expiresAt);
});

test('a lapsed own lease is reclaimed: it ends, then a new one begins with a new fence', () => {
  const { outcome, next, events } = decide(ordinary, renew(anasAgent), 1_000_000, policy);
  const lease = { agent: 'ana-agent', claimedAt: 1_000_000, expiresAt: 1_060_000 };
  expect(held(outcome)).toMatchObject({ reclaimed: true, lease: view({ ...lease, fence: 8n, expiresInMs: 60_000 }) });
  expect(next.lease).toEqual({ fence: 8n, hold: hold({ ...lease, sweepAt: 1_060_000 }) });
  expect(events).toEqual([
    told('EXPIRED', { actor: anasAgent }),
    told('RECLAIMED', { fence: 8n, expiresAt: 1_060_000, actor: anasAgent }),
  ]);
});

test('a node nobody ever held is reclaimed, edge included', () => {
  const { outcome, next } = decide(neverHeld, renew(bo), 970_000, policy);
  expect(held(outcome)).toMatchObject({ reclaimed: true, lease: { fence: 1n, holder: 'bo' } });
  expect(isAssigned(next, 'bo')).toBe(true);
});

test('an own reservation becomes an ordinary lease under the same fence', () => {
  const parked = state({ hold: { reserved: true, expiresAt: 3_000_000, sweepAt: 3_000_000 } });
  const { outcome, next, events } = decide(parked, renew(ana), 970_000, policy);
  expect(held(outcome)).toMatchObject({ status: 'renewed', reclaimed: false });
  expect(next.lease).toEqual({ fence: 7n, hold: hold({ expiresAt: 1_030_000, sweepAt: 1_030_000 }) });
  expect(events).toEqual([told('RESUMED', { expiresAt: 1_030_000 })]);
});

test.each([
  { guarantee: "another's lease is lost, and its holder named", given: ordinary, reserved: false },
  { guarantee: "another's reservation is lost, and its holder named", given: reservation, reserved: true },
])('$guarantee', ({ given, reserved }) => {
  const refusal = expectRefused(decide(given, renew(bo), 970_000, policy), given, 'lease_lost');
  expect(refusal.holder).toEqual(view({ reserved }));
});

test('B24: a renewal runs by the policy of its own moment and never shortens', () => {
  const cut = { ...policy, claimTtlMs: 5_000, claimTtlMaxMs: 5_000 };
  expect(held(decide(ordinary, renew(ana), 970_000, cut).outcome).lease.expiresAt).toBe(1_000_000);
  expect(held(decide(ordinary, renew(ana), 999_000, cut).outcome).lease.expiresAt).toBe(1_004_000);
});
