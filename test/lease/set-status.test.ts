import { describe, expect, test } from 'vitest';
import { decide } from '../../src/lease/decide.ts';
import type { Outcome, StatusSet } from '../../src/lease/outcome.ts';
import { expectRefused, held, isAssigned, kinds, told, toldOfNode, view } from './answers.ts';
import { ana, anasAgent, bo, hold, ordinary, policy, reservation, setStatus, state } from './states.ts';

function statusSet(outcome: Outcome): StatusSet {
  if (outcome.kind !== 'status-set') throw new Error(`not set: ${outcome.kind}`);
  return outcome;
}

describe.each(['active', 'open', 'in-progress'])('the active status %s', (status) => {
  test('claims a free node with the same lease as claim', () => {
    const free = state({ node: { status: 'done' } });
    const { outcome, next, events } = decide(free, setStatus(anasAgent, status), 970_000, policy);
    const lease = { agent: 'ana-agent', claimedAt: 970_000, expiresAt: 1_030_000 };
    expect(outcome).toEqual({
      kind: 'status-set',
      status,
      revision: 4n,
      warnings: [],
      claim: {
        kind: 'held',
        status: 'claimed',
        lease: view({ ...lease, fence: 8n, expiresInMs: 60_000 }),
        edge: 'added',
        reclaimed: false,
        cappedToMs: null,
        graceWindowMs: null,
      },
    });
    expect(next.node).toMatchObject({ status, revision: 4n });
    expect(next.lease).toEqual({ fence: 8n, hold: hold({ ...lease, sweepAt: 1_030_000 }) });
    expect(isAssigned(next, 'ana')).toBe(true);
    expect(events).toEqual([
      toldOfNode('STATUS_CHANGED', { status, actor: anasAgent }),
      told('CLAIMED', { fence: 8n, expiresAt: 1_030_000, actor: anasAgent }),
    ]);
  });

  test('stands although its claim is refused, and says by whom', () => {
    const given = state({ hold: {}, node: { status: 'done' } });
    const { outcome, next, events } = decide(given, setStatus(bo, status), 970_000, policy);
    expect(statusSet(outcome)).toMatchObject({
      revision: 4n,
      warnings: ['task-1 is held by ana until 1970-01-01T00:16:40.000Z.'],
      claim: { kind: 'refused', code: 'conflict', holder: view() },
    });
    expect(next.node?.status).toBe(status);
    expect(next.lease).toBe(given.lease);
    expect(events).toEqual([toldOfNode('STATUS_CHANGED', { status, actor: bo })]);
  });

  test('stands although the caller is at the limit', () => {
    const { outcome, next } = decide(
      state({ node: { status: 'done' }, held: 3 }),
      setStatus(ana, status),
      970_000,
      policy,
    );
    expect(statusSet(outcome).claim).toMatchObject({ kind: 'refused', code: 'limit_reached', limit: 3 });
    expect(next).toMatchObject({ node: { status }, lease: { hold: null } });
  });

  test('claims nothing on a type without lease', () => {
    const note = state({ node: { type: 'note', status: null } });
    const { outcome, next } = decide(note, setStatus(ana, status), 970_000, policy);
    expect(statusSet(outcome).claim).toBeNull();
    expect(next.lease).toBe(note.lease);
  });
});

test('an active status resumes an own reservation', () => {
  const decision = decide(reservation, setStatus(ana, 'active'), 970_000, policy);
  expect(held(statusSet(decision.outcome).claim).lease.reserved).toBe(false);
  expect(kinds(decision)).toEqual(['STATUS_CHANGED', 'RESUMED']);
});

test.each([
  { guarantee: 'a terminal status leaves lease and edge of its setter', given: ordinary, caller: ana, warnings: 0 },
  {
    guarantee: 'a terminal status leaves lease and edge of another, with a warning',
    given: ordinary,
    caller: bo,
    warnings: 1,
  },
  {
    guarantee: "a terminal status leaves another's reservation, with a warning",
    given: reservation,
    caller: bo,
    warnings: 1,
  },
])('$guarantee', ({ given, caller, warnings }) => {
  const { outcome, next, events } = decide(given, setStatus(caller, 'done'), 970_000, policy);
  expect(statusSet(outcome)).toMatchObject({ status: 'done', revision: 4n, claim: null });
  expect(statusSet(outcome).warnings).toHaveLength(warnings);
  expect(next.lease).toBe(given.lease);
  expect(next.edges).toBe(given.edges);
  expect(events).toEqual([toldOfNode('STATUS_CHANGED', { status: 'done', actor: caller })]);
});

test('a lapsed lease of another is no reason for a warning', () => {
  expect(statusSet(decide(ordinary, setStatus(bo, 'done'), 1_000_000, policy).outcome).warnings).toEqual([]);
});

test.each([
  { guarantee: 'the status it has already', given: state({ node: { status: 'done' } }), status: 'done' },
  {
    guarantee: 'open, where no status counts as open',
    given: state({ hold: {}, node: { status: null } }),
    status: 'open',
  },
])('setting $guarantee changes no revision and tells nobody', ({ given, status }) => {
  const { outcome, next, events } = decide(given, setStatus(ana, status), 970_000, policy);
  expect(statusSet(outcome).revision).toBe(3n);
  expect(next.node).toBe(given.node);
  expect(events).toEqual([]);
});

test('a repeated active status renews the own lease', () => {
  const given = state({ hold: {}, node: { status: 'active' } });
  const { outcome, events } = decide(given, setStatus(ana, 'active'), 970_000, policy);
  expect(held(statusSet(outcome).claim).lease).toEqual(view({ expiresAt: 1_030_000, expiresInMs: 60_000 }));
  expect(events).toEqual([]);
});

test('a status change keeps the fields that were read in step', () => {
  const fields = {
    type: 'task',
    title: 'Retry emails',
    status: 'open',
    project: 'atlas',
    priority: null,
    summary: null,
  };
  const rest = { body: null, date: null, neededBy: null, extra: {} };
  const { next } = decide(state({ node: { fields: { ...fields, ...rest } } }), setStatus(ana, 'done'), 970_000, policy);
  expect(next.node?.fields).toEqual({ ...fields, ...rest, status: 'done' });
});

test('a word outside the vocabulary is denied, with the words that are allowed', () => {
  const refusal = expectRefused(
    decide(ordinary, setStatus(ana, 'merged'), 970_000, policy),
    ordinary,
    'transition_denied',
  );
  expect(refusal.message).toBe(
    'task-1 is a task, and "merged" is no status of one. Use: open, active, in-progress, done, abandoned.',
  );
});

test('an unknown node is not found before its word is judged', () => {
  const unknown = state({ node: null, fence: 0n });
  expectRefused(decide(unknown, setStatus(ana, 'no such word'), 970_000, policy), unknown, 'not_found');
});
