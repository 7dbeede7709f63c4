import { describe, expect, test } from 'vitest';
import { assignedEdge } from '../../src/lease/command.ts';
import { decide } from '../../src/lease/decide.ts';
import { expectRefused, kinds } from './answers.ts';
import { ana, claim, extend, NODE, ordinary, policy, release, renew, reserve, state } from './states.ts';

describe('B20: names that look alike are different people', () => {
  const likeAna = [
    'ana-2',
    'Ana',
    'ANA',
    'an',
    'an%',
    'a_a',
    '%',
    '___',
    ' ana',
    'ana ',
    'ana\u0000',
    'аna',
    'a\u200dna',
  ];

  test.each(likeAna)('%j is not ana', (person) => {
    const caller = { person, agent: null };
    expectRefused(decide(ordinary, claim(caller), 970_000, policy), ordinary, 'conflict');
    expectRefused(decide(ordinary, release(caller), 970_000, policy), ordinary, 'conflict');
    for (const when of [renew(caller), extend(caller, 1), reserve(caller)]) {
      expectRefused(decide(ordinary, when, 970_000, policy), ordinary, 'lease_lost');
    }
  });

  test.each(likeAna)('ana is not %j', (holder) => {
    const given = state({ hold: { holder } });
    expectRefused(decide(given, claim(ana), 970_000, policy), given, 'conflict');
  });

  test.each(likeAna)('the edge of %j is not that of ana', (person) => {
    const given = state({ edges: [assignedEdge(NODE, person)] });
    expect(decide(given, release(ana), 970_000, policy).outcome).toMatchObject({ edge: 'skipped' });
    expect(decide(given, claim(ana), 970_000, policy).outcome).toMatchObject({ edge: 'added' });
  });
});

describe('B20: sessions and nonces that look alike are different runs', () => {
  test.each(['s1', 'S', 's%', '_', ' s', 's '])('the session %j is not s', (session) => {
    const given = state({ hold: { session: 's' } });
    expect(kinds(decide(given, renew(ana, { session }), 970_000, policy))).toEqual(['REBOUND']);
  });

  test.each(['launch-11', 'launch', 'Launch-1', 'launch%', 'launch_1'])('the nonce %j is not launch-1', (dispatch) => {
    const given = state({ hold: { dispatch: 'launch-1' } });
    expectRefused(decide(given, claim(ana, { dispatch }), 970_000, policy), given, 'conflict');
  });

  test('an agent named like a person does not make its owner that person', () => {
    expectRefused(decide(ordinary, claim({ person: 'bo', agent: 'ana' }), 970_000, policy), ordinary, 'conflict');
  });
});
