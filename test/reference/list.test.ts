import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mismatches, readStatements } from '../support/statements.ts';

/** The list as a whole. That each number has its two assertions, the test of its heading says. */
const statements = readStatements();

it('counts from 1 without a gap', () => {
  expect(statements.length).toBeGreaterThan(100);
  expect(statements.map(({ number }) => number)).toEqual(statements.map((_, index) => index + 1));
});

it('has one test file for each heading', () => {
  const folder = new URL('.', import.meta.url);
  const described = readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts'))
    .flatMap((name) => [...readFileSync(new URL(name, folder), 'utf8').matchAll(/^describeStatements\('([^']+)'/gm)])
    .map(([, heading]) => heading);
  expect(described.sort()).toEqual([...new Set(statements.map(({ heading }) => heading))].sort());
});

describe('tells', () => {
  it.each([
    ['a number without an assertion', [1, 2], [1], ['2 has no assertion']],
    ['an assertion without a number', [1], [1, 2], ['2 is not in the list']],
    ['a number given twice', [1, 1], [1], ['1 is in the list twice']],
    ['two assertions of one number', [1], [1, 1], ['1 is asserted twice']],
    ['nothing where all is well', [1, 2], [2, 1], []],
  ])('%s', (_, listed, registered, told) => {
    expect(mismatches(listed, registered)).toEqual(told);
  });
});

it('reads a statement that runs over several lines as one', () => {
  expect(readStatements('# Title\n\n## Verb\n\n1. It does\n   this.\n2. And that.\n\nProse.\n')).toEqual([
    { number: 1, heading: 'Verb', text: 'It does this.' },
    { number: 2, heading: 'Verb', text: 'And that.' },
  ]);
});
