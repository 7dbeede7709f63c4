import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placesOf, ROOT, treeFiles } from './tree.ts';

/**
 * The linter refuses an import that points upward. Each fault is planted in a copy of the tree, because other tests use
 * the tree itself at the same time.
 */
const BIOME = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');
const RULES = ['--only=style/noRestrictedImports', '--only=suspicious/noImportCycles'];

let copy = '';

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'holdfast-house-'));
  for (const name of ['biome.jsonc', 'package.json', '.gitignore']) await copyFile(join(ROOT, name), join(copy, name));
  await cp(join(ROOT, 'src'), join(copy, 'src'), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
});

afterAll(() => rm(copy, { recursive: true, force: true }));

it('passes as the tree stands', async () => {
  expect(await lint(ROOT, '.')).toMatchObject({ code: 0 });
});

describe('refuses', () => {
  it.each([
    ['src/lease/planted.ts', '../engine/engine.ts'],
    ['src/lease/planted.ts', '../db/connect.ts'],
    ['src/lease/planted.ts', '../generated/prisma/client.ts'],
    ['src/lease/planted.ts', 'node:fs/promises'],
    ['src/lease/planted.ts', 'zod'],
    ['src/lease/planted.ts', '@prisma/client'],
    ['src/queue/planted.ts', '../read/leases.ts'],
    ['src/queue/planted.ts', 'node:crypto'],
    ['src/graph/planted.ts', '../read/work-node.ts'],
    ['src/graph/planted.ts', 'node:fs'],
    ['src/db/planted.ts', '../lease/lease.ts'],
    ['src/db/planted.ts', '../config.ts'],
    ['src/engine/planted.ts', '../graphql/schema.ts'],
    ['src/engine/planted.ts', '../read/leases.ts'],
    ['src/engine/planted.ts', '../identity/token.ts'],
    ['src/engine/planted.ts', '../config.ts'],
    ['src/engine/planted.ts', '../../test/support/rig.ts'],
    ['src/engine/planted.ts', '../lease/../graphql/schema.ts'],
    ['src/engine/planted.ts', './../graphql/schema.ts'],
    ['src/read/planted.ts', '../engine/engine.ts'],
    ['src/read/planted.ts', '../rest/wire.ts'],
    ['src/events/planted.ts', '../graphql/schema.ts'],
    ['src/events/planted.ts', '../identity/token.ts'],
    ['src/identity/planted.ts', '../app.ts'],
    ['src/identity/planted.ts', '../rest/wire.ts'],
    ['src/graphql/planted.ts', '../rest/wire.ts'],
    ['src/graphql/planted.ts', '../config.ts'],
    ['src/rest/planted.ts', '../graphql/schema.ts'],
    ['src/rest/planted.ts', '../app.ts'],
    ['src/rim/planted.ts', '../rest/wire.ts'],
    ['src/rim/planted.ts', '../lease/lease.ts'],
    ['src/client/planted.ts', '../engine/engine.ts'],
    ['src/dashboard/planted.ts', '../read/leases.ts'],
    ['src/cli/planted.ts', '../engine/engine.ts'],
    ['src/cli/planted.ts', '../main.ts'],
    ['src/main.ts', './app.ts'],
    ['src/main.ts', './engine/engine.ts'],
    ['src/app.ts', './cli/serve.ts'],
    ['src/app.ts', './main.ts'],
    ['src/http.ts', './app.ts'],
    ['src/http.ts', './config.ts'],
    ['src/config.ts', './db/connect.ts'],
    ['src/a-file-without-a-rule.ts', './lease/lease.ts'],
    ['src/a-folder-without-a-rule/planted.ts', '../lease/lease.ts'],
  ])('%s importing %s', async (path, source) => {
    expect(await lintPlanted(path, `import '${source}';\n`)).toMatchObject({
      code: 1,
      says: expect.stringContaining('noRestrictedImports'),
    });
  });

  it.each([
    ['a type', "import type { Engine } from '../engine/engine.ts';\nexport type Planted = Engine;\n"],
    ['a re-export', "export * from '../engine/engine.ts';\n"],
    ['an import at run time', "export const planted = await import('../engine/engine.ts');\n"],
  ])('%s as any other import', async (_, text) => {
    expect(await lintPlanted('src/lease/planted.ts', text)).toMatchObject({ code: 1 });
  });

  it('two files that import each other', async () => {
    await write('src/lease/planted-too.ts', "import './planted.ts';\n");
    expect(await lintPlanted('src/lease/planted.ts', "import './planted-too.ts';\n")).toMatchObject({
      code: 1,
      says: expect.stringContaining('noImportCycles'),
    });
  });
});

describe('allows', () => {
  it.each([
    ['src/lease/planted.ts', './lease.ts'],
    ['src/queue/planted.ts', '../lease/lease.ts'],
    ['src/graph/planted.ts', 'yaml'],
    ['src/db/planted.ts', '../generated/prisma/client.ts'],
    ['src/engine/planted.ts', '../lease/decide.ts'],
    ['src/engine/planted.ts', '../db/connect.ts'],
    ['src/read/planted.ts', '../queue/score.ts'],
    ['src/events/planted.ts', '../engine/engine.ts'],
    ['src/identity/planted.ts', '../read/clock.ts'],
    ['src/graphql/planted.ts', '../identity/token.ts'],
    ['src/graphql/planted.ts', 'graphql/language/printer.js'],
    ['src/rest/planted.ts', '../events/bus.ts'],
    ['src/rest/planted.ts', '../rim/request.ts'],
    ['src/graphql/planted.ts', '../rim/request.ts'],
    ['src/rest/planted.ts', '../graph/front-matter.ts'],
    ['src/cli/planted.ts', '../app.ts'],
    ['src/cli/migrate.ts', '../db/migrate.ts'],
    ['src/cli/planted.ts', '../client/client.ts'],
    ['src/main.ts', './cli/serve.ts'],
    ['src/app.ts', './rest/door.ts'],
    ['src/http.ts', './rest/door.ts'],
    ['src/config.ts', './lease/policy.ts'],
  ])('%s importing %s', async (path, source) => {
    expect(await lintPlanted(path, `import '${source}';\n`)).toMatchObject({ code: 0 });
  });
});

it('has no type that imports where it is used, which the linter does not look at', () => {
  expect(placesOf(/(?<!await |return |\w)import\(\s*'/, treeFiles('src/'))).toEqual([]);
});

/** Plants one file, judges it, and puts back what stood there. */
async function lintPlanted(path: string, text: string): Promise<Verdict> {
  await write(path, text);
  try {
    return await lint(copy, path);
  } finally {
    await rm(join(copy, path));
    if (existsSync(join(ROOT, path))) await copyFile(join(ROOT, path), join(copy, path));
  }
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(copy, path)), { recursive: true });
  await writeFile(join(copy, path), text);
}

interface Verdict {
  readonly code: number;
  readonly says: string;
}

function lint(folder: string, path: string): Promise<Verdict> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [BIOME, 'lint', '--colors=off', '--error-on-warnings', ...RULES, path],
      { cwd: folder },
      (error, stdout, stderr) => {
        if (error !== null && typeof error.code !== 'number') reject(error);
        else resolve({ code: error === null ? 0 : Number(error.code), says: stdout + stderr });
      },
    );
  });
}
