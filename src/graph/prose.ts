/**
 * Front matter as people write it is not always YAML: `title: Lease: the rules` has a colon too many, and in
 * `summary: fixed by #96` YAML takes the end for a comment and drops it. So text that stands unquoted is put in quotes
 * here, before YAML reads it. One line in, one line out, so that line numbers in messages stay right.
 */

/** One `key: value` at the left edge, with the indented lines that follow it. */
export interface Entry {
  readonly key: string;
  /** What follows the key on its line. */
  readonly opening: string;
  /** The value with its lines folded, as YAML folds plain text: a line end is a space, an empty line a line end. */
  readonly value: string;
  readonly source: string;
}

const START = /^([A-Za-z_][\w-]*):(?:[ \t]+(.*))?$/;
const INDENTED = /^[ \t]+\S/;

/** Puts the values that `isProse` picks in quotes and leaves every other line as it is. */
export function quoteProse(frontMatter: string, isProse: (entry: Entry) => boolean): string {
  const lines = frontMatter.split('\n');
  const quoted: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = endOfEntry(lines, at);
    const own = lines.slice(at, end);
    const entry = entryOf(own);
    if (entry !== null && isProse(entry)) {
      quoted.push(`${entry.key}: ${JSON.stringify(entry.value)}`, ...own.slice(1).map(() => ''));
    } else {
      quoted.push(...own);
    }
    at = end;
  }
  return quoted.join('\n');
}

/** Where the entry that begins at a line ends; empty lines at its end are not part of it. */
function endOfEntry(lines: readonly string[], start: number): number {
  let end = start + 1;
  for (let at = end; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (INDENTED.test(line)) end = at + 1;
    else if (line.trim() !== '') break;
  }
  return end;
}

function entryOf(lines: readonly string[]): Entry | null {
  const [first = '', ...rest] = lines;
  const start = START.exec(first);
  if (start?.[1] === undefined) return null;
  const folded = [start[2] ?? '', ...rest].map((line) => line.trim()).join('\n');
  const value = folded.trim().replace(/\n+/g, (ends) => (ends.length === 1 ? ' ' : ends.slice(1)));
  return { key: start[1], opening: (start[2] ?? '').trim(), value, source: lines.join('\n') };
}
