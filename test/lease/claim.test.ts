import { expect, test } from 'vitest';
import { decide } from '../../src/lease/decide.ts';
import { expectRefused, held, isAssigned, told, view } from './answers.ts';
import { ana, anasAgent, bo, claim, hold, neverHeld, ordinary, policy, reservation, state } from './states.ts';

test('a free node is granted whole: answer, row, edge and event', () => {
  const { outcome, next, events } = decide(neverHeld, claim(anasAgent, { session: 's1' }), 970_000, policy);
  const lease = { agent: 'ana-agent', session: 's1', claimedAt: 970_000, expiresAt: 1_030_000 };
  expect(outcome).toEqual({
    kind: 'held',
    status: 'claimed',
    lease: view({ ...lease, fence: 1n, expiresInMs: 60_000 }),
    edge: 'added',
    reclaimed: false,
    cappedToMs: null,
    graceWindowMs: null,
  });
  expect(next.lease).toEqual({ fence: 1n, hold: hold({ ...lease, sweepAt: 1_030_000 }) });
  expect(isAssigned(next, 'ana')).toBe(true);
  expect(events).toEqual([
    told('CLAIMED', { fence: 1n, session: 's1', expiresAt: 1_030_000, actor: { person: 'ana', agent: 'ana-agent' } }),
  ]);
});

test('a lapsed lease of another ends by its own event before the grant', () => {
  const lapsed = state({ hold: { session: 's1', dispatch: 'launch-1', expiresAt: 970_000 } });
  const { next, events } = decide(lapsed, claim(bo), 970_000, policy);
  expect(next.lease).toEqual({
    fence: 8n,
    hold: hold({ holder: 'bo', claimedAt: 970_000, expiresAt: 1_030_000, sweepAt: 1_030_000 }),
  });
  expect(events).toEqual([
    told('EXPIRED', { fence: 7n, session: 's1', expiresAt: 970_000, actor: bo, cause: 'taken' }),
    told('CLAIMED', { fence: 8n, holder: 'bo', expiresAt: 1_030_000, actor: bo }),
  ]);
});

test('a reservation that escalates is told as reserved', () => {
  const { events } = decide(reservation, claim(bo), 1_000_000, policy);
  expect(events[0]).toEqual(told('EXPIRED', { reserved: true, actor: bo, cause: 'taken' }));
});

test("taking a lapsed node never removes its former holder's edge", () => {
  const { next } = decide(ordinary, claim(bo), 1_000_000, policy);
  expect([isAssigned(next, 'ana'), isAssigned(next, 'bo')]).toEqual([true, true]);
});

test('an own lease is renewed in place: same fence, same start, no event', () => {
  const { outcome, next, events } = decide(ordinary, claim(ana), 970_000, policy);
  expect(held(outcome)).toMatchObject({ edge: 'skipped', lease: view({ expiresAt: 1_030_000, expiresInMs: 60_000 }) });
  expect(next.lease).toEqual({ fence: 7n, hold: hold({ expiresAt: 1_030_000 }) });
  expect(events).toEqual([]);
});

test('an own lease that runs longer than an ordinary one is not shortened', () => {
  const long = state({ hold: { expiresAt: 1_400_000 } });
  expect(held(decide(long, claim(ana), 970_000, policy).outcome).lease.expiresAt).toBe(1_400_000);
});

test('an own reservation becomes an ordinary lease, and its end moves back', () => {
  const parked = state({ hold: { reserved: true, expiresAt: 3_000_000, sweepAt: 3_000_000 } });
  const { next, events } = decide(parked, claim(ana), 970_000, policy);
  expect(next.lease).toEqual({ fence: 7n, hold: hold({ expiresAt: 1_030_000, sweepAt: 1_030_000 }) });
  expect(events).toEqual([told('RESUMED', { expiresAt: 1_030_000 })]);
});

test('an edge that went missing under an own lease is written again', () => {
  const bare = state({ hold: {}, edges: [] });
  const { outcome, next } = decide(bare, claim(ana), 970_000, policy);
  expect(held(outcome).edge).toBe('added');
  expect(isAssigned(next, 'ana')).toBe(true);
});

test("another's lease is a conflict that names holder and end, and says what to do", () => {
  const refusal = expectRefused(decide(ordinary, claim(bo), 970_000, policy), ordinary, 'conflict');
  expect(refusal.holder).toEqual(view());
  expect(refusal.message).toBe(
    'task-1 is held by ana until 1970-01-01T00:16:40.000Z. Wait for that moment, ask them to release it, or take other work.',
  );
});

test("another's reservation is a conflict that says so", () => {
  const refusal = expectRefused(decide(reservation, claim(bo), 970_000, policy), reservation, 'conflict');
  expect(refusal.holder).toEqual(view({ reserved: true }));
  expect(refusal.message).toContain('is reserved for ana until');
});

test.each([
  { guarantee: 'a person under the limit is granted', held: 2, code: null },
  { guarantee: 'a person at the limit is not granted', held: 3, code: 'limit_reached' as const },
  { guarantee: 'a person past the limit is not granted', held: 4, code: 'limit_reached' as const },
])('$guarantee', ({ held: count, code }) => {
  const free = state({ held: count });
  const decision = decide(free, claim(ana), 970_000, policy);
  if (code === null) expect(held(decision.outcome).lease.fence).toBe(8n);
  else expect(expectRefused(decision, free, code)).toMatchObject({ limit: 3, holder: null });
});

test('a person at the limit still claims what is theirs', () => {
  const atLimit = state({ hold: {}, held: 3 });
  expect(held(decide(atLimit, claim(ana), 970_000, policy).outcome).status).toBe('claimed');
});

test("B24: the recorded end binds a challenger, not the challenger's shorter policy", () => {
  const stretched = state({ hold: { claimedAt: 0, expiresAt: 7_200_000, sweepAt: 7_200_000 } });
  const cut = { ...policy, claimTtlMs: 300_000, claimTtlMaxMs: 300_000 };
  expectRefused(decide(stretched, claim(bo), 360_000, cut), stretched, 'conflict');
  expect(held(decide(stretched, claim(ana), 360_000, cut).outcome).lease.expiresAt).toBe(7_200_000);
  expect(held(decide(stretched, claim(ana), 7_199_999, cut).outcome).lease.expiresAt).toBe(7_499_999);
  expect(held(decide(stretched, claim(bo), 7_200_000, cut).outcome).lease.expiresAt).toBe(7_500_000);
});
