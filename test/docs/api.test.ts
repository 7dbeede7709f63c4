import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STATUS_OF } from '../../src/rest/errors.ts';
import { createDoorsRig, type Doors } from '../support/doors.ts';

/** The examples of docs/api.md do what the page says, in the order of the page. */
const page = await readFile(new URL('../../docs/api.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```(sh|graphql)\n([\s\S]*?)```/g)].flatMap(([, kind, text = '']) =>
  kind === 'graphql' ? [{ kind, text }] : linesOf(text).map((line) => ({ kind: 'curl', text: line })),
);

let doors: Doors;
beforeAll(async () => {
  doors = await createDoorsRig();
});
afterAll(() => doors.close());

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.startsWith('curl '));
}

/** The parts of a line of the page: method, path and body. */
function readCurl(line: string): { method: string; path: string; body: unknown } {
  const parts = /^curl -s (?:-X (\w+) )?"?\$API([^\s"]+)"? -H "\$AUTH"(?: --json '(.*)')?$/.exec(line);
  if (parts === null) throw new Error(`this line has another form: ${line}`);
  const [, method, path = '', json] = parts;
  const body = json === undefined ? undefined : JSON.parse(json);
  return { method: method ?? (json === undefined ? 'GET' : 'POST'), path, body };
}

describe('the examples', () => {
  it('are there for every verb, by both doors', () => {
    expect(examples.filter(({ kind }) => kind === 'curl').length).toBeGreaterThan(15);
    expect(examples.filter(({ kind }) => kind === 'graphql').length).toBeGreaterThan(13);
    for (const verb of ['claim', 'renew', 'extend', 'reserve', 'release', 'status']) {
      expect(examples.some(({ text }) => text.includes(`/${verb} `))).toBe(true);
    }
  });

  it.each(examples.map(({ kind, text }) => [kind, text.trim().replaceAll(/\s+/g, ' '), text] as const))(
    'work: %s %s',
    async (kind, _shown, text) => {
      if (kind === 'graphql') {
        const { status, data, errors } = await doors.graphql('admin', text);
        expect({ status, errors }).toEqual({ status: 200, errors: undefined });
        for (const answer of Object.values<Record<string, unknown>>(data)) expect(answer).not.toHaveProperty('code');
        return;
      }
      const { method, path, body } = readCurl(text);
      if (path === '/graphql') {
        const { query } = body as { query: string };
        expect((await doors.graphql('admin', query)).errors).toBeUndefined();
      } else expect(await doors.rest('admin', method, path, body)).toMatchObject({ status: 200 });
    },
  );
});

it('the table of refusals is that of the server', () => {
  const rows = [...page.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)].map(([, status, code]) => [code, Number(status)]);
  expect(Object.fromEntries(rows)).toEqual(STATUS_OF);
});
