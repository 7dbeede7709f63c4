import { expect, it } from 'vitest';
import { placesOf, type TreeFile, treeFiles } from './tree.ts';

/** What every file of this house keeps to and no linter rule says. The linter's own rules are in biome.jsonc. */
const tracked = treeFiles();
const code = tracked.filter(({ path }) => /\.m?[jt]s$/.test(path));
const under = (...folders: string[]) => code.filter(({ path }) => folders.some((folder) => path.startsWith(folder)));

const GRAB_BAGS = /^(utils?|helpers?|commons?|managers?|services?|types?|misc)$/;
/** These say nothing as a part of a name either. */
const EMPTY_WORDS = /^(utils?|helpers?|managers?|misc)$/;

it('calls no file or folder by a word that could hold anything', () => {
  const named = under('src/', 'test/', 'bench/').map(({ path }) => path);
  const grabBags = named.filter((path) =>
    path.split('/').some((part) => {
      const [stem = ''] = part.split('.');
      return GRAB_BAGS.test(stem) || stem.split('-').some((word) => EMPTY_WORDS.test(word));
    }),
  );
  expect(grabBags).toEqual([]);
});

it('has no file that only exports what other files define', () => {
  expect(under('src/', 'test/').filter(isBarrel).map(pathOf)).toEqual([]);
});

it('keeps each file to one subject: at most 300 lines', () => {
  expect(
    under('src/', 'test/', 'bench/')
      .filter(({ lines }) => lines > 300)
      .map(({ path, lines }) => `${path} has ${lines}`),
  ).toEqual([]);
});

it('gives the rules no clock and no chance of their own', () => {
  const impure =
    /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bperformance\.|\bcrypto\b|\bsetTimeout\b|\bprocess\./;
  expect(placesOf(impure, under('src/lease/', 'src/queue/'))).toEqual([]);
});

it('waits in tests for what happens, never for time to pass', () => {
  const sleeps = /\b(setTimeout|sleep|delay)\s*\(/;
  const tests = under('test/').filter(({ path }) => !path.startsWith('test/support/'));
  expect(placesOf(sleeps, tests)).toEqual([]);
});

it('runs every test', () => {
  expect(placesOf(/\.(only|skip|todo)\s*\(/, under('test/'))).toEqual([]);
});

it('leaves no note of work undone', () => {
  expect(placesOf(/\b(TO[D]O|FIX[M]E|XX[X])\b/, tracked)).toEqual([]);
});

it('reads the environment in one place', () => {
  const reading = (path: string) => path === 'src/config.ts' || path === 'prisma.config.ts';
  const elsewhere = code.filter(({ path }) => !reading(path) && !/^(test\/support|bench)\//.test(path));
  expect(placesOf(/\bprocess\.env\b/, elsewhere)).toEqual([]);
});

it('has SQL only where data is kept: engine, read, events, identity and db', () => {
  const others = under('src/').filter(({ path }) => !/^src\/(engine|read|events|identity|db)\//.test(path));
  expect(placesOf(/\$(query|execute)Raw|\bnew pg\./, others)).toEqual([]);
});

it('names no folder of the machine it was written on, and no registry', () => {
  expect(placesOf(/(?<![\w./])\/(work|root|home\/\w+|Users\/\w+)\//, tracked)).toEqual([]);
  expect(placesOf(/\/\/registry[.]|_auth[T]oken/, tracked)).toEqual([]);
});

it('holds no secret', () => {
  const secrets = /-----BEGIN [A-Z ]*PRIVATE KEY|\b(AKIA[0-9A-Z]{16}|gh[pousr]_\w{36}|npm_\w{36})\b/;
  expect(placesOf(secrets, tracked)).toEqual([]);
});

function isBarrel({ text }: TreeFile): boolean {
  const bare = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '').trim();
  const rest = bare.replace(/export\s+(type\s+)?(\*(\s+as\s+\w+)?|\{[^}]*\})\s+from\s+'[^']+';?/g, '').trim();
  return bare !== '' && rest === '';
}

function pathOf({ path }: TreeFile): string {
  return path;
}
