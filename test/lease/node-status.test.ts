import { expect, test } from 'vitest';
import { isActive, isTerminal, isWorkType, mayTakeStatus } from '../../src/lease/node-status.ts';

const ACTIVE = ['active', 'open', 'in-progress'];
const TERMINAL =
  'abandoned answered closed completed deprecated dismissed done merged rejected resolved retired superseded'.split(
    ' ',
  );
const WORDS = [...ACTIVE, ...TERMINAL];

test.each([
  { type: 'task', words: ['open', 'active', 'in-progress', 'done', 'abandoned'] },
  { type: 'issue', words: ['open', 'active', 'in-progress', 'resolved'] },
  { type: 'question', words: ['open', 'answered'] },
  { type: 'incident', words: WORDS },
  { type: 'capture-pending', words: WORDS },
  { type: 'finding', words: WORDS },
  { type: 'workflow', words: WORDS },
  { type: 'workflow-run', words: WORDS },
])('$type is work, and takes its own words only', ({ type, words }) => {
  expect(isWorkType(type)).toBe(true);
  expect(WORDS.filter((word) => mayTakeStatus(type, word)).toSorted()).toEqual(words.toSorted());
  for (const word of ['paused', 'blocked', 'DONE', 'done ', '', 'toString'])
    expect(mayTakeStatus(type, word)).toBe(false);
});

test.each(['note', 'decision', 'person', 'project', 'tasks', 'Task', '', 'constructor', '__proto__'])(
  '%j is no work, and takes any small word',
  (type) => {
    expect(isWorkType(type)).toBe(false);
    for (const word of [...WORDS, 'paused', '2-x', 'a', 'a'.repeat(200)]) expect(mayTakeStatus(type, word)).toBe(true);
    for (const word of ['', '-x', 'Done', 'in progress', 'in_progress', 'done\n', 'a'.repeat(201)]) {
      expect(mayTakeStatus(type, word)).toBe(false);
    }
  },
);

test('a word is active or terminal or neither, and no status counts as open', () => {
  expect(WORDS.filter(isActive)).toEqual(ACTIVE);
  expect(WORDS.filter(isTerminal)).toEqual(TERMINAL);
  for (const word of ['paused', 'Done', 'constructor'])
    expect([isActive(word), isTerminal(word)]).toEqual([false, false]);
  expect(isTerminal(null)).toBe(false);
});
