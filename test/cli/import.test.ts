import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runImport } from '../../src/cli/import.ts';
import { type Reply, results, type Sent, startStub } from './stub-server.ts';

let folder: string;
const stops: (() => Promise<void>)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-import-'));
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await rm(folder, { recursive: true });
});

async function write(files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

function node(id: string, body = 'Text.\n'): string {
  return `---\nid: ${id}\ntype: task\n---\n\n${body}`;
}

function lines(count: number, more: (at: number) => object = () => ({})): string {
  const ids = Array.from({ length: count }, (_, at) => `n-${String(count - at).padStart(6, '0')}`);
  return ids.map((id, at) => `${JSON.stringify({ id, type: 'task', ...more(at) })}\n`).join('');
}

function collector(isTTY = false) {
  let text = '';
  const stream = new Writable({
    write(chunk, _, done) {
      text += String(chunk);
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY, columns: 120 }), text: () => text };
}

interface Setting {
  readonly replyTo?: (sent: Sent, count: number) => Reply | undefined;
  readonly url?: string;
  readonly token?: string | null;
  readonly isTTY?: boolean;
}

async function run(args: readonly string[], { replyTo, url, token = 'hf_local_x', isTTY }: Setting = {}) {
  const stub = await startStub(replyTo);
  stops.push(stub.stop);
  const [out, err] = [collector(), collector(isTTY)];
  const waits: number[] = [];
  const wait = async (ms: number) => void waits.push(ms);
  const io = { url: url ?? `${stub.url}/`, token, stdout: out.stream, stderr: err.stream, wait };
  const code = await runImport(args, io);
  return { code, out: out.text(), err: err.text(), sent: stub.sent, waits };
}

const ids = (sent: Sent) => sent.body.nodes.map(({ id }) => id);

describe('holdfast import', () => {
  it('sends every markdown file below a folder, in the order of the ids, and nothing else', async () => {
    await write({
      'a.md': node('task-b'),
      'deep/er/b.md': `---\nid: task-a\ntype: issue\nstatus: open\nauthor: ada\nedges: [{type: blocks, to: task-b}]\n---\n`,
      'notes.txt': 'no node',
      '.git/c.md': node('task-c'),
    });
    await symlink(folder, join(folder, 'deep', 'round'));
    const { code, out, err, sent } = await run([folder]);
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({ path: '/v1/nodes', headers: { authorization: 'Bearer hf_local_x' } });
    expect(sent[0]?.body).toEqual({
      if_exists: 'skip',
      nodes: [
        {
          id: 'task-a',
          type: 'issue',
          status: 'open',
          extra: { author: 'ada' },
          edges: [{ type: 'blocks', to: 'task-b' }],
        },
        { id: 'task-b', type: 'task', body: 'Text.\n', edges: [] },
      ],
    });
    expect(out).toBe('created 2, updated 0, already there 0, not taken 0\n');
    expect(err).toBe('2 of 2 files: created 2, updated 0, already there 0, not taken 0\n');
    expect(code).toBe(0);
  });

  it('sends at most 500 nodes at once, each chunk sorted, with a line of progress each', async () => {
    await write({ 'graph.jsonl': lines(1_201) });
    const { code, err, sent } = await run([join(folder, 'graph.jsonl')]);
    expect(sent.map((one) => one.body.nodes.length)).toEqual([500, 500, 201]);
    for (const one of sent) expect(ids(one)).toEqual([...ids(one)].sort());
    expect(new Set(sent.flatMap(ids)).size).toBe(1_201);
    expect(err.split('\n')).toHaveLength(4);
    expect(code).toBe(0);
  });

  it('keeps requests under 900,000 bytes, and sends a longer node alone', async () => {
    const body = (at: number) => ({ body: '\u{1d11e}'.repeat(at === 3 ? 240_000 : 50_000) });
    await write({ 'graph.jsonl': lines(9, body) });
    const { sent } = await run([join(folder, 'graph.jsonl')]);
    expect(sent.map((one) => one.body.nodes.length)).toEqual([3, 1, 4, 1]);
    expect(Math.max(...sent.map((one) => one.bytes))).toBeLessThan(1_048_576);
  });

  it('lists what it can not take, by file, id and reason, and takes the rest', async () => {
    await write({
      '01-good.md': node('good'),
      '02-no-front-matter.md': '# Read me\n',
      '03-no-id.md': '---\ntype: task\n---\n',
      '04-malformed.md': node('Task 4'),
      '05-no-type.md': '---\nid: task-5\n---\n',
      '06-again.md': node('good'),
      '07-bad-edge.md': '---\nid: task-7\ntype: task\nedges: [{type: blocks}]\n---\n',
      '08-long.md': node('task-8', 'x'.repeat(1_048_576)),
      '09-longer-as-json.md': node('task-9', '"\n'.repeat(300_000)),
      '10-latin.md': Buffer.from(node('task-10', 'caf\u00e9'), 'latin1'),
      '11-refused.md': node('task-11'),
    });
    await symlink(join(folder, 'nowhere'), join(folder, '12-link.md'));
    const { code, out, sent } = await run([folder], {
      replyTo: (one) => ({
        status: 200,
        body: {
          results: results(one, 'created').map((made) =>
            made.id === 'task-11' ? { id: made.id, status: 'failed', error: 'type: no\u001b[31m such' } : made,
          ),
        },
      }),
    });
    expect(sent.flatMap(ids)).toEqual(['good', 'task-11']);
    const listed = out.trimEnd().split('\n');
    expect(listed.slice(0, -1).sort()).toEqual([
      expect.stringMatching(/^not taken: 02-no-front-matter.md: It has no front matter/),
      expect.stringMatching(/^not taken: 03-no-id.md: It has no id/),
      expect.stringMatching(/^not taken: 04-malformed.md \(Task 4\): The id "Task 4" is malformed/),
      expect.stringMatching(/^not taken: 05-no-type.md \(task-5\): It has no type/),
      expect.stringMatching(/^not taken: 06-again.md \(good\): Its id is that of 01-good.md/),
      expect.stringMatching(/^not taken: 07-bad-edge.md \(task-7\): Edge 1, .* has no target/),
      expect.stringMatching(/^not taken: 08-long.md: It is over 1048576 bytes/),
      expect.stringMatching(/^not taken: 09-longer-as-json.md \(task-9\): It is over 1048000 bytes as JSON/),
      expect.stringMatching(/^not taken: 10-latin.md: It is not UTF-8/),
      'not taken: 11-refused.md (task-11): type: no\\x1b[31m such',
      expect.stringMatching(/^not taken: 12-link.md: The file can't be read: ENOENT/),
    ]);
    expect(listed.at(-1)).toBe('created 1, updated 0, already there 0, not taken 11');
    expect(code).toBe(1);
  });

  it('lists JSON lines by their number, also one longer than memory should hold', async () => {
    const long = `{"id":"b","type":"task","body":"${'x'.repeat(3_000_000)}"}`;
    const graph = ['{"id":"a","type":"task"}', '', 'no JSON', long, '{"id":"c","type":"task","colour":1}'].join('\n');
    await write({ 'graph.jsonl': graph });
    const file = join(folder, 'graph.jsonl');
    const { code, out, sent } = await run([file]);
    expect(sent.flatMap(ids)).toEqual(['a', 'c']);
    expect(out.split('\n')).toEqual([
      `not taken: ${file}:3: The line is no JSON object. Write one node a line.`,
      `not taken: ${file}:4: It is over 1048576 bytes, more than the server takes. Make it shorter.`,
      `note: ${file}:5 (c): These fields are not known and were left out: colour. Put them under extra.`,
      'created 2, updated 0, already there 0, not taken 2',
      '',
    ]);
    expect(code).toBe(1);
  });

  it.each([
    ['skip', 'skipped', 'created 0, updated 0, already there 1, not taken 0', 0],
    ['update', 'updated', 'created 0, updated 1, already there 0, not taken 0', 0],
    ['fail', 'failed', 'created 0, updated 0, already there 0, not taken 1', 1],
  ])('passes --if-exists %s on and counts %s', async (word, status, summary, exit) => {
    await write({ 'a.md': node('a') });
    const replyTo = (one: Sent) => ({ status: 200, body: { results: results(one, status, 'a exists already.') } });
    const { code, out, sent } = await run([folder, '--if-exists', word], { replyTo });
    expect(sent[0]?.body.if_exists).toBe(word);
    expect(out).toContain(summary);
    expect(out.includes('not taken: a.md (a): a exists already.\n')).toBe(word === 'fail');
    expect(code).toBe(exit);
  });

  it.each([413, 422, 400])('halves a chunk refused with %i until the culprit stands alone', async (status) => {
    await write({ 'graph.jsonl': lines(20) });
    const replyTo = (one: Sent) =>
      ids(one).includes('n-000007') ? { status, body: { error: { code: 'x', message: 'Too odd.' } } } : undefined;
    const { code, out, sent } = await run([join(folder, 'graph.jsonl')], { replyTo });
    expect(out).toContain(
      `(n-000007): Refused with ${status}: Too odd.\ncreated 19, updated 0, already there 0, not taken 1`,
    );
    expect(sent.length).toBeLessThan(12);
    expect(code).toBe(1);
  });

  it('waits as long as a busy server asks, and says that a node may be its own when the answer was lost', async () => {
    await write({ 'a.md': node('a') });
    const { code, out, waits } = await run([folder, '--if-exists', 'fail'], {
      replyTo: (one, count) =>
        count < 3
          ? { status: count === 1 ? 503 : 429, headers: { 'retry-after': `${count * 2}` } }
          : { status: 200, body: { results: results(one, 'failed', 'a exists already.') } },
    });
    expect(waits).toEqual([2_000, 4_000]);
    expect(out).toContain('a exists already. It was sent more than once, so this import may have made it.');
    expect(code).toBe(1);
  });

  it('gives up on a server that stays busy, and says what was done until then', async () => {
    await write({ 'graph.jsonl': `no JSON\n${lines(501)}` });
    const { code, out, err, sent, waits } = await run([join(folder, 'graph.jsonl')], {
      replyTo: (_, count) =>
        count === 1
          ? undefined
          : { status: 503, headers: { 'retry-after': '3600' }, body: { error: { message: 'Full.' } } },
    });
    expect(sent).toHaveLength(7);
    expect(waits).toEqual(new Array(5).fill(30_000));
    expect(out).toMatch(/\ncreated 499, updated 0, already there 0, not taken 1\n$/);
    expect(err).toMatch(/is busy: 6 tries, the last ended with 503: Full\. Try again later\.\n$/);
    expect(code).toBe(2);
  });

  it.each<[string, Setting, RegExp]>([
    ['there is no token', { token: null }, /HOLDFAST_TOKEN is not set/],
    ['the token is unknown', { replyTo: () => ({ status: 401 }) }, /does not know this token/],
    ['the token is no admin’s', { replyTo: () => ({ status: 403 }) }, /Use an admin's token/],
    ['the server fails', { replyTo: () => ({ status: 500 }) }, /The server failed: 500/],
    ['it is another server', { replyTo: () => ({ status: 200, body: 'hello' }) }, /Is HOLDFAST_URL a Holdfast server/],
    [
      'nobody listens',
      { url: 'http://127.0.0.1:1' },
      /No answer from http:\/\/127.0.0.1:1 \(.*\)\. Is the server running/,
    ],
  ])('ends with 2 and what to do when %s', async (_, setting, message) => {
    await write({ 'a.md': node('a') });
    const { code, out, err } = await run([folder], setting);
    expect(err).toMatch(message);
    expect(out).toBe('created 0, updated 0, already there 0, not taken 0\n');
    expect(code).toBe(2);
  });

  it.each([
    ['no source', [], /Name one folder or file.*Usage/s],
    ['two sources', ['a', 'b'], /Name one folder or file.*Usage/s],
    ['an unknown option', ['a', '--force'], /--force.*Usage/s],
    ['an unknown --if-exists', ['a', '--if-exists', 'replace'], /skip, update or fail.*Usage/s],
    ['a source that is not there', ['/nowhere/graph'], /^There is no file or folder \/nowhere\/graph\.\n$/],
    ['a file of another kind', [import.meta.filename], /neither a folder nor a file of JSON lines/],
    ['a folder without nodes', [import.meta.dirname], /has no \*\.md files/],
  ])('ends with 2 on %s, and sends nothing', async (_, args, message) => {
    const { code, err, sent } = await run(args);
    expect(err).toMatch(message);
    expect(sent).toEqual([]);
    expect(code).toBe(2);
  });

  it('draws a bar on a terminal, and takes it away before it writes anything else', async () => {
    await write({ 'graph.jsonl': lines(1_000) });
    const { err } = await run([join(folder, 'graph.jsonl')], { isTTY: true });
    expect(err.split('\r\u001b[K')).toEqual([
      '',
      '[###############---------------] 50%  created 500, updated 0, already there 0, not taken 0',
      '[##############################] 100%  created 1000, updated 0, already there 0, not taken 0',
      '',
    ]);
  });
});
