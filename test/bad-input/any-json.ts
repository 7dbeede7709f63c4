import fc from 'fast-check';

/** Input of every kind: wrong types, odd characters, large and strange numbers, deep and wide JSON. */
export const oddText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    '\u202eabc',
    '😀',
    'é',
    'e\u0301',
    "'; --",
    '%',
    '_',
    '\\',
    '/',
    '\n',
    '__proto__',
  ),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 50 }),
  fc.integer({ min: 190, max: 210 }).map((length) => 'x'.repeat(length)),
  fc.constant('y'.repeat(10_000)),
);

const oddNumber = fc.oneof(
  fc.constantFrom(0, -0, -1, 0.5, 2 ** 31, 2 ** 53, 2 ** 63, 1e308, -1e308, 5e-324),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
);

const scalar = fc.oneof(oddText, oddNumber, fc.boolean(), fc.constant(null));

export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 5 }) },
  {
    weight: 1,
    arbitrary: fc.dictionary(fc.constantFrom('id', 'ids', 'session', '__proto__', 'constructor', 'x'), scalar),
  },
);

/** An object with some of these fields, each of them anything. */
export function objectOf(fields: readonly string[]): fc.Arbitrary<Record<string, unknown>> {
  return fc.record(Object.fromEntries(fields.map((field) => [field, anyJson])), { requiredKeys: [] });
}
