import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface TreeFile {
  /** From the root, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly lines: number;
}

/** Every file of a folder that git has or would take. Reads the folder itself, so that no git is needed. */
export function treeFiles(folder = ''): TreeFile[] {
  const ignored = new Set(['.git/', ...ignoredFolders('.gitignore'), ...ignoredFolders('.ci/.gitignore', '.ci/')]);
  return filesUnder(folder, ignored).map((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    return { path, text, lines: text.split('\n').length - 1 };
  });
}

/** Where a pattern stands, as `path:line`, so that a failure says what to open. */
export function placesOf(pattern: RegExp, files: readonly TreeFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
  );
}

function filesUnder(folder: string, ignored: ReadonlySet<string>): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}${entry.name}`;
    if (entry.isDirectory()) return ignored.has(`${path}/`) ? [] : filesUnder(`${path}/`, ignored);
    return entry.isFile() ? [path] : [];
  });
}

/** The ignore files here name folders only, one a line. */
function ignoredFolders(file: string, prefix = ''): string[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  return lines.filter((line) => line.endsWith('/')).map((line) => prefix + line);
}
