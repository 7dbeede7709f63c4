import { type Answer, type Api, ApiFault, said } from './api.ts';
import type { GraphFile } from './graph-files.ts';
import { chunked, type NotTaken, type ReadyNode } from './node-chunks.ts';

export const IF_EXISTS = ['skip', 'update', 'fail'] as const;
export type IfExists = (typeof IF_EXISTS)[number];

export interface ImportCounts {
  created: number;
  updated: number;
  alreadyThere: number;
  notTaken: number;
}

export interface ImportOptions {
  readonly api: Api;
  readonly ifExists: IfExists;
  /** Called for each file or line that did not become a node, with why. */
  readonly onNotTaken?: (fault: NotTaken) => void;
  /** Called for each that did, but not with all it said. */
  readonly onNote?: (note: NotTaken) => void;
  /** Called after each request. */
  readonly onStep?: (done: number) => void;
}

export function noCounts(): ImportCounts {
  return { created: 0, updated: 0, alreadyThere: 0, notTaken: 0 };
}

/**
 * Sends a graph to the server, a chunk at a time, each after the answer to the one before. Importing twice is safe:
 * `skip` leaves what is there, `update` sets fields and adds edges, and none removes an edge.
 * @param counts are kept as it goes, so that they hold when it throws as well
 * @throws ApiFault when the server can't be reached or refuses every call; what was sent before stays
 */
export async function importGraph(
  graph: GraphFile,
  options: ImportOptions,
  counts: ImportCounts = noCounts(),
): Promise<ImportCounts> {
  const refuse = (fault: NotTaken) => {
    counts.notTaken += 1;
    options.onNotTaken?.(fault);
  };
  for await (const chunk of chunked(graph.nodes())) {
    chunk.notTaken.forEach(refuse);
    for await (const { node, result } of send(chunk.nodes, options)) {
      if (result.status === 'created') counts.created += 1;
      else if (result.status === 'updated') counts.updated += 1;
      else if (result.status === 'skipped') counts.alreadyThere += 1;
      else refuse({ place: node.place, id: node.id, reason: result.error ?? 'The server gave no reason.' });
    }
    for (const note of chunk.notes) options.onNote?.(note);
    options.onStep?.(chunk.done);
  }
  return counts;
}

interface Result {
  readonly status: string;
  readonly error?: string;
}

/** Sends nodes, in halves when the server refuses them as a whole: one that it can't take then stands alone. */
async function* send(
  nodes: readonly ReadyNode[],
  options: ImportOptions,
): AsyncGenerator<{ node: ReadyNode; result: Result }> {
  const [first] = nodes;
  if (first === undefined) return;
  const list = nodes.map((node) => node.json).join(',');
  const answer = await options.api.post('/v1/nodes', `{"if_exists":"${options.ifExists}","nodes":[${list}]}`);
  if (answer.status === 200) {
    const results = resultsById(answer);
    for (const node of nodes) yield { node, result: results.get(node.id) ?? { status: 'failed' } };
  } else if (![400, 413, 422].includes(answer.status)) {
    throw new ApiFault(`The server failed: ${said(answer.status, answer.body)}. Import again to go on.`);
  } else if (nodes.length === 1) {
    yield { node: first, result: { status: 'failed', error: `Refused with ${said(answer.status, answer.body)}.` } };
  } else {
    const half = Math.ceil(nodes.length / 2);
    yield* send(nodes.slice(0, half), options);
    yield* send(nodes.slice(half), options);
  }
}

function resultsById({ body, tries }: Answer): Map<string, Result> {
  const results = (body as { results?: unknown } | undefined)?.results;
  if (!Array.isArray(results)) throw new ApiFault('The answer holds no results. Is HOLDFAST_URL a Holdfast server?');
  // When the answer to a first try was lost, `fail` finds what that try made.
  const doubt = tries === 1 ? '' : ' It was sent more than once, so this import may have made it.';
  return new Map(
    results.map(({ id, status, error }: Result & { id: string }) => {
      return [id, status === 'failed' && error !== undefined ? { status, error: `${error}${doubt}` } : { status }];
    }),
  );
}
