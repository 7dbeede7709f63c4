import { describe, expect, test } from 'vitest';
import { decide } from '../../src/lease/decide.ts';
import { expectRefused, held, kinds, told, view } from './answers.ts';
import {
  ana,
  anasAgent,
  bo,
  claim,
  extend,
  hold,
  ordinary,
  policy,
  renew,
  reservation,
  reserve,
  setStatus,
  state,
  withDispatch,
} from './states.ts';

const launch1 = { dispatch: 'launch-1' };
const launch2 = { dispatch: 'launch-2' };

describe('the nonce after each verb', () => {
  test.each([
    { guarantee: 'a grant takes its nonce', given: state(), when: claim(ana, launch1), nonce: 'launch-1' },
    {
      guarantee: 'a claim with the same nonce keeps it',
      given: withDispatch,
      when: claim(ana, launch1),
      nonce: 'launch-1',
    },
    { guarantee: 'a claim without nonce leaves it', given: withDispatch, when: claim(ana), nonce: 'launch-1' },
    {
      guarantee: 'a lease without nonce takes the one that comes',
      given: ordinary,
      when: claim(ana, launch2),
      nonce: 'launch-2',
    },
    { guarantee: 'an active status leaves it', given: withDispatch, when: setStatus(ana, 'active'), nonce: 'launch-1' },
    { guarantee: 'renew leaves it', given: withDispatch, when: renew(ana), nonce: 'launch-1' },
    { guarantee: 'extend leaves it', given: withDispatch, when: extend(ana, 5_000), nonce: 'launch-1' },
    { guarantee: 'reserve clears it', given: withDispatch, when: reserve(ana), nonce: null },
    {
      guarantee: 'a claim with nonce resumes an own reservation and sets it',
      given: reservation,
      when: claim(ana, launch2),
      nonce: 'launch-2',
    },
    {
      guarantee: 'a claim without nonce resumes an own reservation without one',
      given: reservation,
      when: claim(ana),
      nonce: null,
    },
  ])('$guarantee', ({ given, when, nonce }) => {
    expect(decide(given, when, 970_000, policy).next.lease.hold?.dispatch).toBe(nonce);
  });

  test.each([
    { guarantee: 'a claim of the lapsed lease without nonce clears it', when: claim(ana), nonce: null },
    {
      guarantee: 'a claim of the lapsed lease with another nonce takes that',
      when: claim(ana, launch2),
      nonce: 'launch-2',
    },
    { guarantee: 'a reclaim by renew clears it', when: renew(ana), nonce: null },
    { guarantee: 'a reclaim by extend clears it', when: extend(ana, 5_000), nonce: null },
    { guarantee: 'a reclaim by reserve clears it', when: reserve(ana), nonce: null },
    { guarantee: 'a claim by an active status clears it', when: setStatus(ana, 'active'), nonce: null },
  ])('$guarantee', ({ when, nonce }) => {
    expect(decide(withDispatch, when, 1_000_000, policy).next.lease).toMatchObject({
      fence: 8n,
      hold: { dispatch: nonce },
    });
  });
});

test('taking a nonce is told as REBOUND under the same fence', () => {
  const { events } = decide(ordinary, claim(ana, launch1), 970_000, policy);
  expect(events).toEqual([told('REBOUND', { expiresAt: 1_030_000 })]);
});

test.each([
  { guarantee: 'a second launch is refused, for the same person', caller: ana },
  { guarantee: 'a second launch is refused, for an agent of the same person', caller: anasAgent },
])('$guarantee', ({ caller }) => {
  const refusal = expectRefused(
    decide(withDispatch, claim(caller, launch2), 970_000, policy),
    withDispatch,
    'conflict',
  );
  expect(refusal.holder).toEqual(view());
  expect(refusal.message).toContain('another launch');
});

test('force replaces the earlier launch: its lease ends, a new one with a new fence begins', () => {
  const given = state({ hold: { agent: 'ana-agent', session: 's1', dispatch: 'launch-1', expiresAt: 1_400_000 } });
  const { outcome, next, events } = decide(given, claim(ana, { ...launch2, force: true }), 970_000, policy);
  expect(held(outcome)).toMatchObject({ status: 'claimed', edge: 'skipped', reclaimed: false });
  expect(next.lease).toEqual({
    fence: 8n,
    hold: hold({ dispatch: 'launch-2', claimedAt: 970_000, expiresAt: 1_030_000, sweepAt: 1_030_000 }),
  });
  expect(events).toEqual([
    told('SUPERSEDED', { session: 's1', expiresAt: 1_400_000 }),
    told('CLAIMED', { fence: 8n, expiresAt: 1_030_000 }),
  ]);
});

test('force replaces a launch on a node that turned terminal, and at the limit: no free node is granted', () => {
  const given = state({ node: { status: 'done' }, hold: launch1, held: 3 });
  expect(kinds(decide(given, claim(ana, { ...launch2, force: true }), 970_000, policy))).toEqual([
    'SUPERSEDED',
    'CLAIMED',
  ]);
});

describe('force is ignored', () => {
  test.each([
    { guarantee: 'with the same nonce', given: withDispatch, fields: launch1, events: [] },
    { guarantee: 'without a nonce', given: withDispatch, fields: {}, events: [] },
    { guarantee: 'on a lease without nonce', given: ordinary, fields: launch2, events: ['REBOUND'] },
    { guarantee: 'on an own reservation', given: reservation, fields: launch2, events: ['RESUMED'] },
  ])('$guarantee', ({ given, fields, events }) => {
    const decision = decide(given, claim(ana, { ...fields, force: true }), 970_000, policy);
    expect(held(decision.outcome).lease.fence).toBe(7n);
    expect(kinds(decision)).toEqual(events);
  });

  test.each([
    { guarantee: "on another person's lease", given: withDispatch },
    { guarantee: "on another person's lease with the same nonce", given: state({ hold: launch2 }) },
    { guarantee: "on another person's reservation", given: reservation },
  ])('$guarantee', ({ given }) => {
    expectRefused(decide(given, claim(bo, { ...launch2, force: true }), 970_000, policy), given, 'conflict');
  });
});

test('a lapsed launch needs no force to be followed by another', () => {
  expect(kinds(decide(withDispatch, claim(ana, launch2), 1_000_000, policy))).toEqual(['EXPIRED', 'CLAIMED']);
});
