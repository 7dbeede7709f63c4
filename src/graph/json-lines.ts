import { asGraphNode, isObject, type ParsedNode, TEXT_FIELDS } from './graph-node.ts';

const KNOWN: readonly string[] = ['id', 'type', ...TEXT_FIELDS, 'body', 'extra', 'edges', 'steward_ids'];

/**
 * Reads one line of a graph in JSON lines: one node a line, in the shape of an element of `POST /v1/nodes`. An empty
 * line is null. Never throws.
 */
export function parseLine(line: string): ParsedNode | null {
  const text = line.replace(/^\ufeff/, '').trim();
  if (text === '') return null;
  const value = parseJson(text);
  if (!isObject(value)) return { ok: false, id: null, reason: 'The line is no JSON object. Write one node a line.' };
  const known = Object.entries(value).filter(([key, given]) => KNOWN.includes(key) && given !== null);
  const parsed = asGraphNode(Object.fromEntries(known));
  if (!parsed.ok) return parsed;
  const unknown = Object.keys(value).filter((key) => !KNOWN.includes(key));
  if (unknown.length === 0) return parsed;
  const note = `These fields are not known and were left out: ${unknown.join(', ')}. Put them under extra.`;
  return { ...parsed, notes: [...parsed.notes, note] };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
