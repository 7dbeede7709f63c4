/**
 * A node as markdown with YAML front matter, both ways. Known keys are fields, all others go to `extra`; the text below
 * the closing fence is the body, byte for byte, less one empty line that sets it apart.
 */
import { type Document, isMap, isSeq } from 'yaml';
import { asGraphNode, type GraphEdge, type GraphNode, type ParsedNode, TEXT_FIELDS } from './graph-node.ts';
import { type Entry, quoteProse } from './prose.ts';
import { jsonOf, parseYaml, textOf, writeWord, writeYaml } from './yaml-values.ts';

const TEXTS: readonly string[] = ['id', 'type', ...TEXT_FIELDS];
/** Keys with a meaning of their own. In `extra` they are written under `extra:`, where they mean nothing. */
const RESERVED: readonly string[] = [...TEXTS, 'edges', 'steward_ids', 'extra'];

/** YAML reads no longer key at the left edge: 1,024 characters as written, of which an escape takes six. */
const LONGEST_KEY = 160;
/** Titles and summaries are sentences, whatever YAML would make of them. */
const PROSE: ReadonlySet<string> = new Set(['title', 'summary']);

/** Reads one file. Never throws: what can't be read comes back as a reason to show. */
export function parseNode(file: string): ParsedNode {
  const parts = splitFile(file.replace(/^\ufeff/, ''));
  if (typeof parts === 'string') return refused(parts);
  try {
    const fields = readFields(parts.frontMatter);
    if (typeof fields === 'string') return refused(fields);
    return asGraphNode(parts.body === null ? fields : { ...fields, body: parts.body });
  } catch (fault) {
    // The YAML library throws on what it bounds: aliases of aliases, and nesting deeper than the stack.
    return refused(`The front matter can't be read: ${fault instanceof Error ? fault.message : String(fault)}`);
  }
}

function refused(reason: string): ParsedNode {
  return { ok: false, id: null, reason };
}

function splitFile(file: string): { frontMatter: string; body: string | null } | string {
  const opening = /^---[ \t]*\r?\n/.exec(file);
  if (opening === null) return 'It has no front matter. The first line must be ---.';
  const closing = /(?<=^|\n)---[ \t]*(?:\r?\n|$)/;
  const inside = file.slice(opening[0].length);
  const fence = closing.exec(inside);
  if (fence === null) return 'Its front matter has no end. Close it with a line ---.';
  const rest = inside.slice(fence.index + fence[0].length);
  return {
    frontMatter: inside.slice(0, fence.index).replaceAll('\r\n', '\n'),
    body: rest === '' ? null : rest.replace(/^\r?\n/, ''),
  };
}

function readFields(frontMatter: string): Record<string, unknown> | string {
  const document = parseTolerantly(frontMatter);
  const [error] = document.errors;
  if (error !== undefined) {
    const [what = ''] = error.message.split(/ at line |\n/);
    // The fence above is line 1.
    return `Its front matter is no YAML, line ${(error.linePos?.[0].line ?? 0) + 1}: ${what}. Put the value in quotes.`;
  }
  if (document.contents !== null && !isMap(document.contents)) return 'Its front matter has no `key: value` lines.';

  const fields = new Map<string, unknown>();
  const extra: [string, unknown][] = [];
  for (const { key, value } of document.contents?.items ?? []) {
    const name = textOf(key, document) ?? '';
    if (RESERVED.includes(name) && name !== 'extra') fields.set(name, readField(name, value, document));
    else if (name === 'extra' && isMap(value)) extra.push(...Object.entries(jsonOf(value, document) as object));
    else extra.push([name, jsonOf(value, document)]);
  }
  const twice = extra.find(([key], at) => extra.findIndex(([other]) => other === key) < at);
  if (twice !== undefined) return `Its front matter gives ${twice[0]} twice, once under extra. Keep one.`;
  // On update absent means "as it is": a line left empty says no more than no line.
  const said = [...fields].filter(([, value]) => value !== null);
  return Object.fromEntries(extra.length === 0 ? said : [...said, ['extra', Object.fromEntries(extra)]]);
}

/** As YAML if it is YAML, with titles and summaries taken word by word; else with other plain text in quotes too. */
function parseTolerantly(frontMatter: string): Document.Parsed {
  const asWritten = quoteProse(frontMatter, (entry) => PROSE.has(entry.key) && isUnquoted(entry));
  const document = parseYaml(asWritten);
  return document.errors.length === 0 ? document : parseYaml(quoteProse(asWritten, isBrokenText));
}

function readField(name: string, value: unknown, document: Document.Parsed): unknown {
  if (name === 'edges') return readEdges(value, document);
  return TEXTS.includes(name) ? (textOf(value, document) ?? jsonOf(value, document)) : jsonOf(value, document);
}

function isUnquoted(entry: Entry): boolean {
  if (['', '~', 'null'].includes(entry.value)) return false;
  if (/^[|>][-+\d]*(?:[ \t]+#.*)?$/.test(entry.opening)) return false;
  return /^["']/.test(entry.value) ? isBroken(entry) : true;
}

/** Of the other keys, plain text that is no YAML. What opens a list, a map, a quote or a reference is left to the author. */
function isBrokenText(entry: Entry): boolean {
  return /^[^"'[{|>&*!]/.test(entry.value) && isBroken(entry);
}

function isBroken(entry: Entry): boolean {
  return parseYaml(entry.source).errors.length > 0;
}

function readEdges(list: unknown, document: Document.Parsed): unknown {
  if (!isSeq(list)) return jsonOf(list, document);
  return list.items.map((item) => {
    if (!isMap(item)) return jsonOf(item, document);
    const attributes = item.items.map(({ key, value }) => {
      return [textOf(key, document) ?? '', textOf(value, document) ?? jsonOf(value, document)] as const;
    });
    return Object.fromEntries(attributes);
  });
}

/**
 * Writes a node so that `parseNode` reads the same node back. There is always a `status:` line: a node without a status
 * counts as open, and is written so. Stewards are edges of theirs, not of the node, and are not written.
 */
export function renderNode(node: GraphNode, edges: readonly GraphEdge[] = node.edges ?? []): string {
  const { id, type, project, title, summary, status, priority, date, needed_by } = node;
  const texts = { id, type, project, title, summary, status: status ?? 'open', priority, date, needed_by };
  const said = Object.entries(texts).filter(([, value]) => value !== undefined && value !== null);
  const lines = [...said.map(([key, value]) => `${key}: ${writeYaml(value)}`), ...extraLines(node.extra ?? {})];
  if (edges.length > 0) lines.push('edges:');
  for (const edge of edges) lines.push(`  - {type: ${writeWord(edge.type)}, to: ${writeWord(edge.to)}}`);
  const body = node.body === undefined || node.body === null ? '' : `\n${node.body}`;
  return `---\n${lines.join('\n')}\n---\n${body}`;
}

function extraLines(extra: Readonly<Record<string, unknown>>): string[] {
  const entries = Object.entries(extra);
  const hidden = entries.filter(([key]) => RESERVED.includes(key) || key.length > LONGEST_KEY);
  const lines = entries
    .filter((entry) => !hidden.includes(entry))
    .map(([key, value]) => `${writeWord(key)}: ${writeYaml(value)}`);
  return hidden.length === 0 ? lines : [...lines, `extra: ${writeYaml(Object.fromEntries(hidden))}`];
}
