import { describe, expect, test } from 'vitest';
import { refuseMalformed } from '../../src/lease/check-input.ts';
import { decide } from '../../src/lease/decide.ts';
import { expectRefused } from './answers.ts';
import {
  ana,
  bo,
  claim,
  extend,
  ordinary,
  policy,
  release,
  renew,
  reserve,
  setStatus,
  state,
  withDispatch,
} from './states.ts';

/**
 * Each state satisfies two adjacent grounds of refusal; the earlier one answers. Some pairs can't meet: a node that is
 * unknown has no type, a fence is of no claim and a nonce of claims only, and an own lease is never refused as a grant.
 */

describe('the body is judged before the id, and both before the node', () => {
  test.each([
    { when: claim(ana, { nodeId: 'No id', session: '' }), field: 'session' },
    { when: claim(ana, { nodeId: 'No id', dispatch: '' }), field: 'dispatch' },
    { when: extend(ana, -1, { nodeId: 'No id' }), field: 'ms' },
    { when: renew(ana, { nodeId: 'No id' }), field: 'nodeId' },
  ])('$when.verb: $field', ({ when, field }) => {
    expect(refuseMalformed(when)).toMatchObject({ code: 'invalid_input', field });
    expect(decide(state({ node: null }), when, 970_000, policy).outcome).toMatchObject({ code: 'not_found' });
  });
});

const noteHeldByAna = state({ hold: {}, node: { type: 'note', status: 'done' } });

describe.each([
  { verb: 'claim', by: claim },
  { verb: 'renew', by: renew },
  { verb: 'extend', by: (caller: typeof ana, fields = {}) => extend(caller, 1, fields) },
  { verb: 'reserve', by: reserve },
  { verb: 'release', by: release },
])('$verb', ({ verb, by }) => {
  test('an unknown node comes before all that its row may say', () => {
    const unknown = state({ node: null, hold: {}, held: 3 });
    expectRefused(decide(unknown, by(bo), 970_000, policy), unknown, 'not_found');
  });

  test("a type without lease comes before another's lease, and holds for the holder too", () => {
    expectRefused(decide(noteHeldByAna, by(bo), 970_000, policy), noteHeldByAna, 'invalid_node');
    expectRefused(decide(noteHeldByAna, by(ana), 970_000, policy), noteHeldByAna, 'invalid_node');
  });

  test("another's lease comes before terminal status and limit", () => {
    const given = state({ hold: {}, node: { status: 'done' }, held: 3 });
    const code = verb === 'claim' || verb === 'release' ? 'conflict' : 'lease_lost';
    expectRefused(decide(given, by(bo), 970_000, policy), given, code);
  });
});

describe.each([
  { verb: 'renew', by: renew },
  { verb: 'extend', by: (caller: typeof ana, fields = {}) => extend(caller, 1, fields) },
  { verb: 'reserve', by: reserve },
])('$verb with a fence', ({ by }) => {
  test("another's lease comes before a stale fence", () => {
    const refusal = expectRefused(decide(ordinary, by(bo, { fence: 6n }), 970_000, policy), ordinary, 'lease_lost');
    expect(refusal.message).toContain('ask them to release it');
  });

  test('a stale fence comes before terminal status and limit', () => {
    const given = state({ node: { status: 'done' }, held: 3 });
    expectRefused(decide(given, by(ana, { fence: 7n }), 970_000, policy), given, 'lease_lost');
  });

  test('a terminal status comes before the limit', () => {
    const given = state({ node: { status: 'done' }, held: 3 });
    expectRefused(decide(given, by(ana), 970_000, policy), given, 'not_ready');
  });
});

describe('claim', () => {
  test("another's lease comes before another nonce", () => {
    const decision = decide(withDispatch, claim(bo, { dispatch: 'launch-2' }), 970_000, policy);
    expect(expectRefused(decision, withDispatch, 'conflict').message).toContain('ask them to release it');
  });

  test('another nonce comes before terminal status and limit', () => {
    const given = state({ hold: { dispatch: 'launch-1' }, node: { status: 'done' }, held: 3 });
    expectRefused(decide(given, claim(ana, { dispatch: 'launch-2' }), 970_000, policy), given, 'conflict');
  });

  test('a terminal status comes before the limit', () => {
    const given = state({ node: { status: 'done' }, held: 3 });
    const refusal = expectRefused(decide(given, claim(ana), 970_000, policy), given, 'not_ready');
    expect(refusal.message).toBe(
      "task-1 is done, so it can't be taken. Set an active status first if there is more to do.",
    );
  });

  test('the limit comes last', () => {
    const given = state({ held: 3 });
    expectRefused(decide(given, claim(ana), 970_000, policy), given, 'limit_reached');
  });
});

test('not_ready and limit_reached refuse no lease in force', () => {
  const given = state({ hold: {}, node: { status: 'done' }, held: 3 });
  const answers = [claim(ana), renew(ana), extend(ana, 1), reserve(ana), release(ana)].map(
    (when) => decide(given, when, 970_000, policy).outcome.kind,
  );
  expect(answers).toEqual(['held', 'held', 'held', 'held', 'released']);
});

test('a denied word comes before the claim that it would make', () => {
  const given = state({ hold: {}, node: { type: 'question' } });
  expectRefused(decide(given, setStatus(bo, 'active'), 970_000, policy), given, 'transition_denied');
});
