import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createDoorsRig, type Doors } from './doors.ts';
import type { Verbs } from './verbs.ts';
import { overGraphql } from './verbs-over-graphql.ts';
import { overRest } from './verbs-over-rest.ts';

export type Assertion = (verbs: Verbs, doors: Doors) => Promise<void>;

/** A rig for the tests of one file, each of which begins when every lease of those before it has lapsed. */
export function useDoors(): () => Doors {
  let doors: Doors;
  beforeAll(async () => {
    doors = await createDoorsRig();
  });
  beforeEach(async () => {
    expect.hasAssertions();
    await doors.database.sql('DELETE FROM policy');
    await doors.pass(LONGER_THAN_ANY_LEASE);
  });
  afterAll(() => doors.close());
  return () => doors;
}

const LONGER_THAN_ANY_LEASE = 100 * 86_400_000;

/** The same test over REST and over GraphQL. */
export function eachDoor(doors: () => Doors): (name: string, assertion: Assertion) => void {
  return (name, assertion) => {
    it(`${name}, over REST`, () => assertion(overRest(doors()), doors()));
    it(`${name}, over GraphQL`, () => assertion(overGraphql(doors()), doors()));
  };
}
