import { describe, expect, test } from 'vitest';
import { malformedId, refuseMalformed } from '../../src/lease/check-input.ts';
import { ana, claim, expire, extend, putNode, release, renew, reserve, setStatus } from './states.ts';

describe.each([
  { verb: 'claim', bound: (session: string | null) => claim(ana, { session }) },
  { verb: 'renew', bound: (session: string | null) => renew(ana, { session }) },
  { verb: 'extend', bound: (session: string | null) => extend(ana, 1, { session }) },
  { verb: 'reserve', bound: (session: string | null) => reserve(ana, { session }) },
])('$verb', ({ bound }) => {
  test('B35: an empty session is malformed, null is absent', () => {
    expect(refuseMalformed(bound(''))).toEqual({
      kind: 'refused',
      code: 'invalid_input',
      field: 'session',
      message: 'session must be 1 to 200 characters without control characters. Leave it out for none.',
      holder: null,
    });
    expect(refuseMalformed(bound(null))).toBeNull();
  });

  test.each(['a\u0000', 'x'.repeat(201), '\ud83d'])('the session %j is malformed', (session) => {
    expect(refuseMalformed(bound(session))).toMatchObject({ code: 'invalid_input', field: 'session' });
  });
});

test.each(['', 'a\nb', 'x'.repeat(201)])('the nonce %j is malformed', (dispatch) => {
  expect(refuseMalformed(claim(ana, { dispatch }))).toMatchObject({ code: 'invalid_input', field: 'dispatch' });
});

test.each([
  claim(ana, { session: 's', dispatch: 'd' }),
  renew(ana),
  extend(ana, 0.5),
  reserve(ana),
  release(ana),
  setStatus(ana, 'no such word'),
  putNode(),
  expire(7n),
])('$verb is well-formed with a good id, and refused with a bad one', (command) => {
  expect(refuseMalformed(command)).toBeNull();
  expect(refuseMalformed({ ...command, nodeId: 'Task-1' })).toMatchObject({
    kind: 'refused',
    code: 'invalid_input',
    field: 'nodeId',
    message: '"Task-1" is no id: use small letters, digits and dashes, at most 200, not starting with a dash.',
  });
});

test('a bad id is shown short and escaped, under the name that its field has', () => {
  expect(malformedId('ids', 'a\n').message).toContain('"a\\n" is no id');
  const { field, message } = malformedId('to', 'x'.repeat(300));
  expect(field).toBe('to');
  expect(message).toContain(`"${'x'.repeat(80)}…" is no id`);
});
