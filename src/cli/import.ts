import { parseArgs } from 'node:util';
import { ApiFault, createApi } from './api.ts';
import { NoSuchGraph, openGraph } from './graph-files.ts';
import { IF_EXISTS, type IfExists, type ImportCounts, importGraph, noCounts } from './import-graph.ts';
import type { NotTaken } from './node-chunks.ts';
import { createProgress } from './progress.ts';

const USAGE = `Usage: holdfast import <folder | file.jsonl> [--if-exists skip|update|fail]

Puts a graph into the server at HOLDFAST_URL with the token in HOLDFAST_TOKEN (an admin's): every *.md below the folder,
each one node with front matter, or a file with one JSON node a line.

  --if-exists skip     leave nodes that are there as they are (default)
  --if-exists update   set the fields that the file gives, add its edges, remove none
  --if-exists fail     list nodes that are there as not taken
`;

export interface ImportIo {
  readonly url: string;
  readonly token: string | null;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Waits between tries; tests pass their own. */
  readonly wait?: (ms: number) => Promise<void>;
}

/**
 * `holdfast import`: the summary and the list of what was not taken go to stdout, progress to stderr.
 * @returns 0 all taken, 1 something not taken, 2 wrong usage, or the server out of reach
 */
export async function runImport(args: readonly string[], io: ImportIo): Promise<number> {
  const command = readArgs(args);
  if (command === 'help') {
    io.stdout.write(USAGE);
    return 0;
  }
  if ('fault' in command) {
    io.stderr.write(`${command.fault}\n\n${USAGE}`);
    return 2;
  }
  try {
    return await run(command, io);
  } catch (fault) {
    if (!(fault instanceof ApiFault || fault instanceof NoSuchGraph)) throw fault;
    io.stderr.write(`${printable(fault.message)}\n`);
    return 2;
  }
}

async function run({ source, ifExists }: ImportCommand, io: ImportIo): Promise<number> {
  const graph = await openGraph(source);
  const progress = createProgress(io.stderr, graph.total, graph.unit);
  const counts = noCounts();
  const list = (what: string) => (fault: NotTaken) => {
    progress.clear();
    io.stdout.write(`${what}: ${printable(lineOf(fault))}\n`);
  };
  try {
    const onStep = (done: number) => progress.step(done, summary(counts));
    const options = { api: createApi(io), ifExists, onNotTaken: list('not taken'), onNote: list('note'), onStep };
    await importGraph(graph, options, counts);
  } finally {
    // Also when the server went away half way: what was done stays done.
    progress.clear();
    io.stdout.write(`${summary(counts)}\n`);
  }
  return counts.notTaken === 0 ? 0 : 1;
}

interface ImportCommand {
  readonly source: string;
  readonly ifExists: IfExists;
}

function readArgs(args: readonly string[]): ImportCommand | 'help' | { readonly fault: string } {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { 'if-exists': { type: 'string', default: 'skip' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    if (values.help === true) return 'help';
    const [source, ...more] = positionals;
    if (source === undefined || more.length > 0) return { fault: 'Name one folder or file to import.' };
    const ifExists = IF_EXISTS.find((word) => word === values['if-exists']);
    return ifExists === undefined ? { fault: '--if-exists is skip, update or fail.' } : { source, ifExists };
  } catch (fault) {
    return { fault: fault instanceof Error ? fault.message : String(fault) };
  }
}

function summary({ created, updated, alreadyThere, notTaken }: ImportCounts): string {
  return `created ${created}, updated ${updated}, already there ${alreadyThere}, not taken ${notTaken}`;
}

function lineOf({ place, id, reason }: NotTaken): string {
  return id === null ? `${place}: ${reason}` : `${place} (${id}): ${reason}`;
}

/** File names and messages are others' text: on one line, and without what would steer a terminal. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (odd) =>
    odd === '\n' ? ' ' : `\\x${odd.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
