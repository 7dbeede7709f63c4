import { expect, test } from 'vitest';
import { isId, isRunName } from '../../src/lease/node-id.ts';

test.each(['a', '7', 'task-tidefall-retry-emails', '0-', 'a--b', 'a'.repeat(200)])('%j is an id', (id) => {
  expect(isId(id)).toBe(true);
});

test.each([
  '',
  '-a',
  'A',
  'Task-1',
  'task_1',
  'task 1',
  ' task-1',
  'task-1 ',
  'task-1\n',
  '\ntask-1',
  'task.1',
  'task/1',
  'task%2d1',
  'an%',
  'täsk',
  'task-１',
  'a\u0000',
  'a'.repeat(201),
])('%j is no id', (id) => {
  expect(isId(id)).toBe(false);
});

test.each(['s', 'S1', ' ', 'run 7/α', '%', '_', "it's \\ here", '\u200f', '😀', 'e\u0301', 'x'.repeat(200)])(
  '%j names a run',
  (name) => {
    expect(isRunName(name)).toBe(true);
  },
);

test.each(['', 'a\u0000', 'a\nb', '\t', '\u007f', '\u0085', '\ud83d', 'x'.repeat(201)])('%j names no run', (name) => {
  expect(isRunName(name)).toBe(false);
});
