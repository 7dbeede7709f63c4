/**
 * The nodes of a folder of markdown files, or of a file of JSON lines, one at a time: at any moment one file, or one
 * line, is in memory. A file or line that can't be read is handed on with its reason; only a source that is not there
 * at all is thrown, as `NoSuchGraph`.
 */
import { isUtf8 } from 'node:buffer';
import { createReadStream, type Dirent, type Stats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseNode } from '../graph/front-matter.ts';
import type { ParsedNode } from '../graph/graph-node.ts';
import { parseLine } from '../graph/json-lines.ts';

export interface GraphFile {
  /** How much there is to do, in the unit of `done`. */
  readonly total: number;
  readonly unit: 'files' | 'bytes';
  nodes(): AsyncIterable<PlacedNode>;
}

export interface PlacedNode {
  /** The file within the folder, or the file and its line. */
  readonly place: string;
  readonly parsed: ParsedNode;
  /** How much of the total is done with this node. */
  readonly done: number;
}

export class NoSuchGraph extends Error {
  override readonly name = 'NoSuchGraph';
}

/** More than a request may hold, so it is not even read. */
const LONGEST_BYTES = 1_048_576;
const TOO_LONG = `It is over ${LONGEST_BYTES} bytes, more than the server takes. Make it shorter.`;
const NOT_UTF8 = 'It is not UTF-8 text. Save it as UTF-8.';

export async function openGraph(source: string): Promise<GraphFile> {
  const stats = await statOf(source);
  if (stats === null) throw new NoSuchGraph(`There is no file or folder ${source}.`);
  if (stats.isDirectory()) {
    let total = 0;
    for await (const _ of markdownFiles(source)) total += 1;
    if (total === 0) throw new NoSuchGraph(`The folder ${source} has no *.md files.`);
    return { total, unit: 'files', nodes: () => nodesOfFolder(source) };
  }
  if (!/\.(jsonl|ndjson)$/.test(source)) {
    throw new NoSuchGraph(`${source} is neither a folder nor a file of JSON lines, *.jsonl.`);
  }
  return { total: stats.size, unit: 'bytes', nodes: () => nodesOfLines(source) };
}

async function* nodesOfFolder(folder: string): AsyncGenerator<PlacedNode> {
  let done = 0;
  for await (const path of markdownFiles(folder)) {
    done += 1;
    yield { place: relative(folder, path), parsed: await nodeOfFile(path), done };
  }
}

async function nodeOfFile(path: string): Promise<ParsedNode> {
  try {
    if ((await stat(path)).size > LONGEST_BYTES) return refused(TOO_LONG);
    const bytes = await readFile(path);
    return isUtf8(bytes) ? parseNode(bytes.toString('utf8')) : refused(NOT_UTF8);
  } catch (fault) {
    return refused(`The file can't be read: ${fault instanceof Error ? fault.message : String(fault)}`);
  }
}

/** Sorted, so that two runs go the same way. Hidden folders are left out, and links to folders, which may go round. */
async function* markdownFiles(folder: string): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) yield* markdownFiles(path);
    else if (entry.name.endsWith('.md') && (await isFile(entry, path))) yield path;
  }
}

async function isFile(entry: Dirent, path: string): Promise<boolean> {
  // A link to nowhere counts: it is listed as not taken, for the reason that reading it gives.
  return entry.isFile() || (entry.isSymbolicLink() && !(await statOf(path))?.isDirectory());
}

async function statOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch {
    return null;
  }
}

async function* nodesOfLines(file: string): AsyncGenerator<PlacedNode> {
  let line = 0;
  for await (const { bytes, done } of linesOf(file)) {
    line += 1;
    const parsed = bytes === null ? refused(TOO_LONG) : isUtf8(bytes) ? parseLine(bytes.toString()) : refused(NOT_UTF8);
    if (parsed !== null) yield { place: `${file}:${line}`, parsed, done };
  }
}

/** The lines of a file; null for one too long to be a node, of which no more than that is kept in memory. */
async function* linesOf(file: string): AsyncGenerator<{ bytes: Buffer | null; done: number }> {
  let held: Buffer[] = [];
  let length = 0;
  let done = 0;
  const take = (part: Buffer) => {
    length += part.length;
    if (length <= LONGEST_BYTES) held.push(part);
    else held = [];
  };
  const line = () => {
    const bytes = length <= LONGEST_BYTES ? Buffer.concat(held) : null;
    held = [];
    length = 0;
    return { bytes, done };
  };
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      take(chunk.subarray(start, end));
      done += end + 1 - start;
      start = end + 1;
      yield line();
    }
    take(chunk.subarray(start));
    done += chunk.length - start;
  }
  if (length > 0) yield line();
}

function refused(reason: string): ParsedNode {
  return { ok: false, id: null, reason };
}
