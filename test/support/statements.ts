import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Assertion, useDoors } from './both-doors.ts';
import { overGraphql } from './verbs-over-graphql.ts';
import { overRest } from './verbs-over-rest.ts';

/**
 * docs/reference.md as tests: each of its numbered statements has one assertion over each door. A number without both
 * fails, and so does an assertion whose number the list does not have.
 */
export interface Statement {
  readonly number: number;
  /** The `##` heading that it stands under. */
  readonly heading: string;
  readonly text: string;
}

export interface Assertions {
  readonly rest: Assertion;
  readonly graphql: Assertion;
}

export function readStatements(
  text = readFileSync(new URL('../../docs/reference.md', import.meta.url), 'utf8'),
): Statement[] {
  let heading = '';
  return text
    .replaceAll(/\n +/g, ' ')
    .split('\n')
    .flatMap((line) => {
      heading = /^## (.+)$/.exec(line)?.[1] ?? heading;
      const [, number, says] = /^(\d+)\. (.+)$/.exec(line) ?? [];
      return number === undefined || says === undefined ? [] : [{ number: Number(number), heading, text: says }];
    });
}

/** The same assertion over both doors, where they differ in form only. */
export function onBoth(assertion: Assertion): Assertions {
  return { rest: assertion, graphql: assertion };
}

/** What keeps a list of statements and the assertions for it from being one to one. */
export function mismatches(listed: readonly number[], registered: readonly number[]): string[] {
  const twice = (numbers: readonly number[]) => numbers.filter((number, index) => numbers.indexOf(number) !== index);
  return [
    ...listed.filter((number) => !registered.includes(number)).map((number) => `${number} has no assertion`),
    ...registered.filter((number) => !listed.includes(number)).map((number) => `${number} is not in the list`),
    ...twice(listed).map((number) => `${number} is in the list twice`),
    ...twice(registered).map((number) => `${number} is asserted twice`),
  ];
}

/** Runs the statements under one heading, each when every lease of those before it has lapsed. */
export function describeStatements(
  heading: string,
  register: (statement: (number: number, assertions: Assertions) => void) => void,
): void {
  const listed = readStatements().filter((statement) => statement.heading === heading);
  const registered: [number, Assertions][] = [];
  register((number, assertions) => registered.push([number, assertions]));

  describe(heading, () => {
    const doors = useDoors();

    it('has an assertion for each number of the list, and for no other', () => {
      const numbers = listed.map(({ number }) => number);
      expect(numbers).not.toEqual([]);
      expect(
        mismatches(
          numbers,
          registered.map(([number]) => number),
        ),
      ).toEqual([]);
    });

    for (const [number, { rest, graphql }] of registered) {
      const says = listed.find((statement) => statement.number === number)?.text ?? 'is not in the list';
      it(`${number} over REST: ${says}`, () => rest(overRest(doors()), doors()));
      it(`${number} over GraphQL: ${says}`, () => graphql(overGraphql(doors()), doors()));
    }
  });
}
