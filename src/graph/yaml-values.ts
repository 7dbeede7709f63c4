/**
 * The YAML that front matter is read and written with. Plain scalars are text as written, so dates and versions stay
 * what they are. Only `true`, `false`, `null`, `~`, nothing, and numbers that would be written back the same become
 * values: `1` does; `007`, `1.10` and `2026.06.18.1` do not.
 */
import { type Document, isAlias, isScalar, type Node, parseDocument, type ScalarTag } from 'yaml';

const NUMBER = /^-?\d[\d.eE+-]*$/;

const BOOLEAN: ScalarTag = {
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  test: /^(?:true|false)$/,
  resolve: (text) => text === 'true',
};

const NOTHING: ScalarTag = {
  tag: 'tag:yaml.org,2002:null',
  default: true,
  test: /^(?:null|~)?$/,
  resolve: () => null,
};

const ROUND_TRIP_NUMBER: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: NUMBER,
  resolve: (text) => (isNumber(text) ? Number(text) : text),
};

export function parseYaml(text: string): Document.Parsed {
  return parseDocument(text, { schema: 'failsafe', customTags: [BOOLEAN, NOTHING, ROUND_TRIP_NUMBER] });
}

/** A scalar as the text that was written, null for nothing, undefined for lists and maps. */
export function textOf(node: unknown, document: Document): string | null | undefined {
  const scalar = isAlias(node) ? node.resolve(document) : node;
  if (scalar === null || scalar === undefined) return null;
  if (!isScalar(scalar)) return undefined;
  return scalar.value === null ? null : (scalar.source ?? String(scalar.value));
}

/** Any node as plain JSON. Aliases are followed a bounded number of times, so that a small file stays small. */
export function jsonOf(node: unknown, document: Document): unknown {
  return (node as Node | null)?.toJS(document, { maxAliasCount: 100 }) ?? null;
}

/** A value on one line: text plain where nothing could take it for anything else, JSON otherwise, which YAML includes. */
export function writeYaml(value: unknown): string {
  return typeof value === 'string' && isPlain(value, PLAIN) ? value : writeJson(value);
}

/** Text inside `{…}`, and keys, where commas and brackets have a meaning. */
export function writeWord(text: string): string {
  return isPlain(text, PLAIN_WORD) ? text : writeJson(text);
}

const PLAIN = /^[\p{L}\p{N}](?:[\p{L}\p{N} ,.;!?()/_'+=—–-]*[\p{L}\p{N}.;!?()/_'+=])?$/u;
const PLAIN_WORD = /^[A-Za-z_][\w.-]*$/;

function isPlain(text: string, form: RegExp): boolean {
  return form.test(text) && !NOTHING.test?.test(text) && !BOOLEAN.test?.test(text) && !isNumber(text);
}

function isNumber(text: string): boolean {
  return NUMBER.test(text) && String(Number(text)) === text;
}

/** JSON leaves some characters bare that end a line, or that an editor would eat. */
function writeJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff]/g,
    (odd) => `\\u${odd.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
