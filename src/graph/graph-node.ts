import { isId } from '../lease/node-id.ts';

/** One node as graphs in files and `POST /v1/nodes` write it. Absent and null fields say nothing. */
export interface GraphNode {
  readonly id: string;
  readonly type: string;
  readonly title?: string | null;
  readonly status?: string | null;
  readonly project?: string | null;
  readonly priority?: string | null;
  readonly summary?: string | null;
  readonly body?: string | null;
  readonly date?: string | null;
  readonly needed_by?: string | null;
  readonly extra?: Readonly<Record<string, unknown>> | null;
  readonly edges?: readonly GraphEdge[] | null;
  readonly steward_ids?: readonly string[] | null;
}

/** An edge from the node that lists it. */
export interface GraphEdge {
  readonly type: string;
  readonly to: string;
}

/** What became of one file or line. `notes` name what was left out of a node that is good otherwise. */
export type ParsedNode =
  | { readonly ok: true; readonly node: GraphNode; readonly notes: readonly string[] }
  | { readonly ok: false; readonly id: string | null; readonly reason: string };

/** The fields that are text, `body` excepted: front matter holds it below the fence. */
export const TEXT_FIELDS = ['title', 'status', 'project', 'priority', 'summary', 'date', 'needed_by'] as const;

/**
 * Takes what a file holds for a node, or says why it can't be one. A node with one bad edge is refused whole: taken
 * without it, the next import would find the node there, skip it, and the edge would be lost without a word.
 */
export function asGraphNode(value: Readonly<Record<string, unknown>>): ParsedNode {
  const id = typeof value.id === 'string' ? value.id : null;
  const reason =
    faultOfId(value.id) ??
    faultOfType(value.type) ??
    faultOfTexts(value) ??
    faultOfExtra(value.extra) ??
    faultOfEdges(value.edges) ??
    faultOfStewards(value.steward_ids);
  if (reason !== null) return { ok: false, id, reason };
  const edges = (value.edges ?? []) as readonly GraphEdge[];
  const bare = edges.map(({ type, to }) => ({ type, to }));
  return { ok: true, node: { ...(value as unknown as GraphNode), edges: bare }, notes: leftOut(edges) };
}

function faultOfId(id: unknown): string | null {
  if (id === undefined || id === null || id === '') return 'It has no id. Give it one: small letters, digits, dashes.';
  if (typeof id === 'string' && isId(id)) return null;
  return `The id ${shown(id)} is malformed. Ids are small letters, digits and dashes, at most 200 characters.`;
}

function faultOfType(type: unknown): string | null {
  if (type === undefined || type === null || type === '') return 'It has no type. Give it one, task for example.';
  return typeof type === 'string' ? null : `The type ${shown(type)} is no text.`;
}

function faultOfTexts(value: Readonly<Record<string, unknown>>): string | null {
  const bad = [...TEXT_FIELDS, 'body'].find((name) => typeof (value[name] ?? '') !== 'string');
  return bad === undefined ? null : `The field ${bad} is no text: ${shown(value[bad])}. Put it in quotes.`;
}

function faultOfExtra(extra: unknown): string | null {
  const fits = extra === undefined || extra === null || isObject(extra);
  return fits ? null : `The field extra is no object: ${shown(extra)}.`;
}

function faultOfEdges(edges: unknown): string | null {
  if (edges === undefined || edges === null) return null;
  if (!Array.isArray(edges)) return `The edges are no list: ${shown(edges)}. Write one {type: …, to: …} an entry.`;
  for (const [at, edge] of edges.entries()) {
    const fault = faultOfEdge(edge);
    if (fault !== null) return `Edge ${at + 1}, ${shown(edge)}, ${fault}. Write it as {type: blocks, to: some-id}.`;
  }
  return null;
}

function faultOfEdge(edge: unknown): string | null {
  if (!isObject(edge)) return 'is malformed';
  if (typeof edge.type !== 'string' || edge.type === '') return 'has no type';
  if (typeof edge.to !== 'string' || edge.to === '') return 'has no target `to`';
  return isId(edge.to) ? null : 'points at a malformed id';
}

function faultOfStewards(stewards: unknown): string | null {
  if (stewards === undefined || stewards === null) return null;
  const fits = Array.isArray(stewards) && stewards.every((id) => typeof id === 'string' && isId(id));
  return fits ? null : `The field steward_ids is no list of ids: ${shown(stewards)}.`;
}

function leftOut(edges: readonly GraphEdge[]): string[] {
  return edges.flatMap((edge, at) => {
    const more = Object.keys(edge).filter((key) => key !== 'type' && key !== 'to');
    return more.length === 0 ? [] : [`Edge ${at + 1} says more than type and to; left out: ${more.join(', ')}.`];
  });
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as a message shows it: on one line, and short. */
function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length <= 80 ? text : `${text.slice(0, 79).toWellFormed()}…`;
}
