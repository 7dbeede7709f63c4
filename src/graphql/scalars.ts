import { GraphQLError } from 'graphql';
import { builder } from './builder.ts';

/** Instants are epoch ms inside, and ISO 8601 in UTC with milliseconds on the wire. */
builder.scalarType('DateTime', {
  description: 'An instant of database time: ISO 8601, UTC, with milliseconds, such as 2026-11-30T12:00:00.000Z.',
  serialize: (ms) => new Date(ms).toISOString(),
  parseValue(value) {
    const at = typeof value === 'string' && ISO.test(value) && isDay(value) ? new Date(value) : null;
    if (at === null || Number.isNaN(at.getTime()) || at.getTime() < YEAR_ONE) {
      throw new GraphQLError('A DateTime is ISO 8601 with a time zone, such as 2026-11-30T12:00:00.000Z.');
    }
    return at;
  },
});

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;
const YEAR_ONE = Date.parse('0001-01-01T00:00:00Z');

/** Whether the calendar has the day: a Date would make 2 March of 30 February. */
function isDay(value: string): boolean {
  const day = value.slice(0, 10);
  const at = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day);
}

builder.scalarType('JSON', {
  description: 'Any JSON value, as it came.',
  serialize: (value) => value,
  parseValue: (value) => value,
});
