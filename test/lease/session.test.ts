import { describe, expect, test } from 'vitest';
import { decide } from '../../src/lease/decide.ts';
import { held, kinds, told } from './answers.ts';
import {
  ana,
  anasAgent,
  claim,
  extend,
  ordinary,
  policy,
  release,
  renew,
  reservation,
  reserve,
  setStatus,
  state,
  withSession,
} from './states.ts';

const s2 = { session: 's2' };
const parked = state({ hold: { session: 's1', reserved: true } });

const VERBS = {
  claim: { bare: claim(ana), bound: claim(ana, s2) },
  renew: { bare: renew(ana), bound: renew(ana, s2) },
  extend: { bare: extend(ana, 5_000), bound: extend(ana, 5_000, s2) },
  reserve: { bare: reserve(ana), bound: reserve(ana, s2) },
};

describe.each(Object.entries(VERBS))('%s', (verb, { bare, bound }) => {
  test.each([
    { guarantee: 'with a session binds a lease without one', given: ordinary, at: 970_000, when: bound, session: 's2' },
    {
      guarantee: 'with another session rebinds: no session refuses its own person',
      given: withSession,
      at: 970_000,
      when: bound,
      session: 's2',
    },
    { guarantee: 'without a session leaves the binding', given: withSession, at: 970_000, when: bare, session: 's1' },
    { guarantee: 'with a session binds what it grants', given: withSession, at: 1_000_000, when: bound, session: 's2' },
    {
      guarantee: 'without a session grants a person-scoped lease',
      given: withSession,
      at: 1_000_000,
      when: bare,
      session: null,
    },
    { guarantee: 'with a session binds an own reservation', given: parked, at: 970_000, when: bound, session: 's2' },
    {
      guarantee: 'without a session frees a resumed reservation of its binding, and leaves that of a parked one',
      given: parked,
      at: 970_000,
      when: bare,
      session: verb === 'reserve' ? 's1' : null,
    },
  ])('$guarantee', ({ given, at, when, session }) => {
    const { outcome, next, events } = decide(given, when, at, policy);
    expect(next.lease.hold?.session).toBe(session);
    expect(held(outcome).lease.session).toBe(session);
    if (events.length > 0) expect(events.at(-1)?.session).toBe(session);
  });
});

describe('REBOUND is told', () => {
  test.each([
    { guarantee: 'when the session changes', given: withSession, when: renew(ana, s2), events: ['REBOUND'] },
    { guarantee: 'when the first session comes', given: ordinary, when: renew(ana, s2), events: ['REBOUND'] },
    { guarantee: 'not for the same session', given: withSession, when: renew(ana, { session: 's1' }), events: [] },
    { guarantee: 'not for another agent alone', given: withSession, when: renew(anasAgent), events: [] },
    { guarantee: 'before EXTENDED', given: ordinary, when: extend(ana, 5_000, s2), events: ['REBOUND', 'EXTENDED'] },
    { guarantee: 'not beside RESERVED', given: ordinary, when: reserve(ana, s2), events: ['RESERVED'] },
    { guarantee: 'not beside RESUMED', given: reservation, when: renew(ana, s2), events: ['RESUMED'] },
  ])('$guarantee', ({ given, when, events }) => {
    expect(kinds(decide(given, when, 970_000, policy))).toEqual(events);
  });

  test('with the new session and the new end', () => {
    const { events } = decide(withSession, renew(ana, s2), 970_000, policy);
    expect(events).toEqual([told('REBOUND', { session: 's2', expiresAt: 1_030_000 })]);
  });
});

test('an active status leaves the session of an own lease and frees that of a reservation', () => {
  expect(decide(withSession, setStatus(ana, 'active'), 970_000, policy).next.lease.hold?.session).toBe('s1');
  expect(decide(parked, setStatus(ana, 'active'), 970_000, policy).next.lease.hold?.session).toBeNull();
});

test('a release needs no session and tells the one that the lease was bound to', () => {
  expect(decide(withSession, release(ana), 970_000, policy).events).toEqual([told('RELEASED', { session: 's1' })]);
});

test.each([
  {
    guarantee: 'the agent of the last verb is the agent of the lease',
    given: ordinary,
    caller: anasAgent,
    agent: 'ana-agent',
  },
  {
    guarantee: "the person's own token clears the agent",
    given: state({ hold: { agent: 'ana-agent' } }),
    caller: ana,
    agent: null,
  },
])('$guarantee', ({ given, caller, agent }) => {
  for (const when of [claim(caller), renew(caller), extend(caller, 5_000), reserve(caller)]) {
    expect(decide(given, when, 970_000, policy).next.lease.hold?.agent).toBe(agent);
  }
});
