import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface TreeFile {
  /** From the root, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly lines: number;
}

/** The files that git has or would take, so that what is not committed yet is judged as well. */
export function treeFiles(...folders: string[]): TreeFile[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', ...folders], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return [...new Set(listed.split('\0'))].filter((path) => path !== '').flatMap(readIfThere);
}

/** A file that was deleted but whose deletion is not committed yet is no file. */
function readIfThere(path: string): TreeFile[] {
  try {
    const text = readFileSync(`${ROOT}${path}`, 'utf8');
    return [{ path, text, lines: text.split('\n').length - 1 }];
  } catch {
    return [];
  }
}

/** Where a pattern stands, as `path:line`, so that a failure says what to open. */
export function placesOf(pattern: RegExp, files: readonly TreeFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
  );
}
