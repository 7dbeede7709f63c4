import type { GraphNode } from '../graph/graph-node.ts';
import type { PlacedNode } from './graph-files.ts';

/** Nodes that fit one request, by id: many requests that go by id never wait for each other crosswise. */
export interface Chunk {
  readonly nodes: readonly ReadyNode[];
  /** What was read since the chunk before and can't be sent. */
  readonly notTaken: readonly NotTaken[];
  /** What was taken, but not all of it. */
  readonly notes: readonly NotTaken[];
  readonly done: number;
}

/** A node as it is sent. */
export interface ReadyNode {
  readonly place: string;
  readonly id: string;
  readonly json: string;
}

export interface NotTaken {
  readonly place: string;
  readonly id: string | null;
  readonly reason: string;
}

/** The server refuses a body over 1,048,576 bytes; a node that is over alone is not sent, one that is under may go alone. */
const MOST_NODES = 500;
const MOST_BYTES = 900_000;
const LONGEST_NODE = 1_048_000;
const TOO_LONG = `It is over ${LONGEST_NODE} bytes as JSON, more than the server takes. Make it shorter.`;

/**
 * Puts nodes together to chunks, one chunk in memory at a time. Of a graph only the ids are kept, to tell a second node
 * with an id of an earlier one.
 */
export async function* chunked(nodes: AsyncIterable<PlacedNode>): AsyncGenerator<Chunk> {
  const placeOf = new Map<string, string>();
  let chunk = emptyChunk(0);
  for await (const { place, parsed, done } of nodes) {
    const ready = parsed.ok ? serialize(place, parsed.node, placeOf) : { place, id: parsed.id, reason: parsed.reason };
    if ('reason' in ready) {
      chunk.notTaken.push(ready);
    } else {
      const bytes = Buffer.byteLength(ready.json) + 1;
      if (chunk.nodes.length > 0 && chunk.bytes + bytes > MOST_BYTES) {
        yield sorted(chunk);
        chunk = emptyChunk(chunk.done);
      }
      chunk.nodes.push(ready);
      chunk.bytes += bytes;
      if (parsed.ok) chunk.notes.push(...parsed.notes.map((reason) => ({ place, id: ready.id, reason })));
    }
    chunk.done = done;
    // Refused ones count as well, or a folder full of them would be held whole, and show no progress.
    if (chunk.nodes.length + chunk.notTaken.length >= MOST_NODES) {
      yield sorted(chunk);
      chunk = emptyChunk(done);
    }
  }
  if (chunk.nodes.length + chunk.notTaken.length > 0) yield sorted(chunk);
}

function serialize(place: string, node: GraphNode, placeOf: Map<string, string>): ReadyNode | NotTaken {
  const { id } = node;
  const earlier = placeOf.get(id);
  if (earlier !== undefined)
    return { place, id, reason: `Its id is that of ${earlier}, which came first. Give it another.` };
  const json = jsonOf(node);
  if (json === null) return { place, id, reason: 'Its extra is nested too deep to be sent.' };
  if (Buffer.byteLength(json) > LONGEST_NODE) return { place, id, reason: TOO_LONG };
  placeOf.set(id, place);
  return { place, id, json };
}

/** Null when the nesting is deeper than the stack. */
function jsonOf(node: GraphNode): string | null {
  try {
    return JSON.stringify(node);
  } catch {
    return null;
  }
}

function emptyChunk(done: number) {
  return { nodes: [] as ReadyNode[], notTaken: [] as NotTaken[], notes: [] as NotTaken[], bytes: 0, done };
}

function sorted(chunk: ReturnType<typeof emptyChunk>): Chunk {
  chunk.nodes.sort((one, other) => (one.id < other.id ? -1 : 1));
  return chunk;
}
