import { expect, test } from 'vitest';
import { sameJson } from '../../src/lease/same-json.ts';

test.each([
  ['{"a":1,"b":[1,{"c":null}]}', '{"b":[1,{"c":null}],"a":1}'],
  ['[]', '[]'],
  ['"a"', '"a"'],
  ['null', 'null'],
])('%s says the same as %s', (a, b) => {
  expect(sameJson(JSON.parse(a), JSON.parse(b))).toBe(true);
});

test.each([
  ['{"a":1}', '{"a":"1"}'],
  ['{"a":1}', '{"b":1}'],
  ['{"a":1}', '{"a":1,"b":2}'],
  ['{"a":null}', '{}'],
  ['[1,2]', '[2,1]'],
  ['[]', '{}'],
  ['["a"]', '{"0":"a"}'],
  ['null', '{}'],
  ['0', 'false'],
  ['{"__proto__":{}}', '{"a":{}}'],
])('%s does not say the same as %s', (a, b) => {
  expect(sameJson(JSON.parse(a), JSON.parse(b))).toBe(false);
  expect(sameJson(JSON.parse(b), JSON.parse(a))).toBe(false);
});
