import fc from 'fast-check';
import '../support/seed.ts';
import { describe, expect, it } from 'vitest';
import { parseNode, renderNode } from '../../src/graph/front-matter.ts';
import type { GraphNode } from '../../src/graph/graph-node.ts';

function file(...lines: string[]): string {
  return ['---', 'id: task-1', 'type: task', ...lines, '---', '', 'The body.', ''].join('\n');
}

function nodeOf(text: string): GraphNode {
  const parsed = parseNode(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.node;
}

function reasonOf(text: string): string {
  const parsed = parseNode(text);
  return parsed.ok ? 'taken' : parsed.reason;
}

describe('reading a node', () => {
  it('fills the fields it knows and puts every other key into extra', () => {
    const text = file('status: active', 'priority: 1', 'needed_by: 2026-07-01', 'author: person-ada', 'mute: true');
    expect(parseNode(text)).toEqual({
      ok: true,
      node: {
        id: 'task-1',
        type: 'task',
        status: 'active',
        priority: '1',
        needed_by: '2026-07-01',
        extra: { author: 'person-ada', mute: true },
        edges: [],
        body: 'The body.\n',
      },
      notes: [],
    });
  });

  it.each([
    ['a date', '2026-06-11', '2026-06-11'],
    ['a time', '2026-06-11T10:00:00Z', '2026-06-11T10:00:00Z'],
    ['a version', '2026.06.18.1', '2026.06.18.1'],
    ['a version that looks like a number', '1.10', '1.10'],
    ['leading zeros', '007', '007'],
    ['a hexadecimal', '0x1F', '0x1F'],
    ['a number too long to hold', '12345678901234567890', '12345678901234567890'],
    ['a word of YAML 1.1', 'yes', 'yes'],
    ['a number', '12', 12],
    ['a fraction', '-1.5', -1.5],
    ['a quoted number', '"12"', '12'],
    ['a boolean', 'false', false],
    ['nothing', '', null],
    ['a list', '[r2@e77e08f, 1]', ['r2@e77e08f', 1]],
    ['a map', '{a: 1, "b": [x]}', { a: 1, b: ['x'] }],
    ['text with a colon in it', 'see: the other one', 'see: the other one'],
    ['text before a comment', 'kept # gone', 'kept'],
    ['text that begins with a reserved sign', '@ada', '@ada'],
  ])('keeps %s in extra: %s', (_, written, value) => {
    expect(nodeOf(file(`given: ${written}`)).extra).toEqual({ given: value });
  });

  it.each([
    ['colons', 'Lease: the rules: all', 'Lease: the rules: all'],
    ['a number sign, which is no comment', 'Fixed by #96 and # more', 'Fixed by #96 and # more'],
    ['a bar', '| a bar first', '| a bar first'],
    ['brackets', '[WIP] leases', '[WIP] leases'],
    ['a quote that closes early', '"Lease" is: a word', '"Lease" is: a word'],
    ['double quotes around it all', '"Lease: \\"it\\""', 'Lease: "it"'],
    ['single quotes around it all', "'It''s'", "It's"],
    ['a number', '007', '007'],
    ['a word that YAML knows', 'true', 'true'],
    ['lines that go on', 'one: and\n  two\n\n  three # 3', 'one: and two\nthree # 3'],
    ['a block', '|\n  one: a\n   two', 'one: a\n two\n'],
    ['a folded block', '>-\n  one\n  two', 'one two'],
  ])('takes a title at its word: %s', (_, written, title) => {
    expect(nodeOf(file(`title: ${written}`, 'status: open'))).toMatchObject({ title, status: 'open' });
  });

  it('reads CRLF files, a byte order mark, and fences with blanks after them', () => {
    const text = '\ufeff---  \r\nid: a\r\ntype: task\r\ntitle: b: c\r\n---\t\r\n\r\nOne\r\nTwo';
    expect(nodeOf(text)).toEqual({ id: 'a', type: 'task', title: 'b: c', body: 'One\r\nTwo', edges: [] });
  });

  it.each([
    ['no body', '', undefined],
    ['an empty body', '\n', ''],
    ['a body right under the fence', 'x', 'x'],
    ['a body with a fence in it', '\na\n---\nb\n---\n', 'a\n---\nb\n---\n'],
    ['empty lines around the body', '\n\n\nx\n\n', '\n\nx\n\n'],
  ])('keeps %s as it is', (_, below, body) => {
    expect(nodeOf(`---\nid: a\ntype: task\n---\n${below}`).body).toBe(body);
  });

  it('reads edges in a line or in a block, flush left or not, and ids that YAML takes for values', () => {
    const text = file(
      'edges:',
      '- {type: blocks, to: 12}',
      '- type: resolves # why',
      '  to: null-1',
      '- {type: a, to: true}',
    );
    expect(nodeOf(text).edges).toEqual([
      { type: 'blocks', to: '12' },
      { type: 'resolves', to: 'null-1' },
      { type: 'a', to: 'true' },
    ]);
  });

  it('says what it left out of an edge', () => {
    expect(parseNode(file('edges: [{type: assigned, to: ada, profile: x}]'))).toMatchObject({
      node: { edges: [{ type: 'assigned', to: 'ada' }] },
      notes: ['Edge 1 says more than type and to; left out: profile.'],
    });
  });

  it('refuses aliases that would grow without end', () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x]'];
    for (const [key, of] of ['ba', 'cb', 'dc', 'ed', 'fe', 'gf'].map((pair) => [...pair])) {
      lines.push(`${key}: &${key} [${new Array(9).fill(`*${of}`).join(', ')}]`);
    }
    expect(reasonOf(file(...lines))).toMatch(/^The front matter can't be read/);
  });

  it.each([
    ['no front matter', 'Just text.', /no front matter/],
    ['front matter without an end', '---\nid: a\n', /no end/],
    ['an empty front matter', '---\n---\nx', /no id/],
    ['a list for front matter', '---\n- id\n---\n', /no `key: value` lines/],
    ['broken YAML, by the line of the file', file('status: open', 'tags: [a, b'), /no YAML, line [56]: /],
    ['a key given twice', file('status: open', 'status: done'), /no YAML, line 5: Map keys must be unique/],
    ['a key given twice by way of extra', file('a: 1', 'extra: {a: 2}'), /gives a twice/],
    ['no id', '---\ntype: task\n---\n', /no id/],
    ['a malformed id', '---\nid: Task 1\ntype: task\n---\n', /"Task 1" is malformed/],
    ['no type', '---\nid: a\ntype:\n---\n', /no type/],
    ['a field that is no text', file('project: [a, b]'), /field project is no text: \["a","b"\]/],
    ['edges that are no list', file('edges: blocks'), /edges are no list: "blocks"/],
    ['an edge that is text', file('edges: [a]'), /Edge 1, "a", is malformed/],
    ['an edge without a target', file('edges:', '  - {type: a, to: b}', '  - type: a'), /Edge 2, .* has no target/],
    ['an edge without a type', file('edges: [{to: a}]'), /Edge 1, .* has no type/],
    ['an edge to a malformed id', file('edges: [{type: a, to: B}]'), /Edge 1, .* points at a malformed id/],
    ['stewards that are no ids', file('steward_ids: ada'), /steward_ids is no list of ids/],
  ])('gives a reason for %s', (_, text, reason) => {
    expect(reasonOf(text)).toMatch(reason);
  });
});

describe('writing a node', () => {
  it('writes front matter that people can read', () => {
    const node = {
      id: 'task-1',
      type: 'task',
      title: 'Lease: rules',
      date: '2026-06-11',
      extra: { version: 1, v: '1' },
    };
    expect(renderNode({ ...node, body: 'The body.\n' }, [{ type: 'blocks', to: 'task-2' }])).toBe(
      [
        '---',
        'id: task-1',
        'type: task',
        'title: "Lease: rules"',
        'status: open',
        'date: 2026-06-11',
        'version: 1',
        'v: "1"',
        'edges:',
        '  - {type: blocks, to: task-2}',
        '---',
        '',
        'The body.',
        '',
      ].join('\n'),
    );
  });

  it.each([undefined, null, 'open', 'done'])('has a status line for the status %s', (status) => {
    const fields = status === undefined ? {} : { status };
    expect(renderNode({ id: 'a', type: 'task', ...fields })).toContain(`\nstatus: ${status ?? 'open'}\n`);
  });

  it('is read back as the node it was written from', () => {
    fc.assert(
      fc.property(nodes(), (node) => {
        expect(parseNode(renderNode(node))).toEqual({ ok: true, node, notes: [] });
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Text with what YAML and markdown trip over, more often than chance would bring it. */
function oddText() {
  const pieces = [
    '---',
    '\n',
    '\r\n',
    '\r',
    ': ',
    ' #',
    '"',
    "'",
    '- ',
    '|',
    '>',
    '{',
    '[',
    '&a',
    '*a',
    '!',
    '%',
    '@',
    '`',
  ];
  const more = [
    ' ',
    '\t',
    '~',
    'null',
    'true',
    '1e3',
    '\ufeff',
    '\u2028',
    '\u0085',
    '\u0000',
    '\\',
    '…',
    '𝄞',
    '\u0301',
  ];
  const piece = fc.oneof(fc.constantFrom(...pieces, ...more), fc.string({ unit: 'grapheme', maxLength: 6 }));
  return fc.oneof(
    piece,
    fc.array(piece, { maxLength: 8 }).map((parts) => parts.join('')),
  );
}

function nodes(): fc.Arbitrary<GraphNode> {
  const id = fc.oneof(
    fc.constantFrom('null', 'true', '12', '1-', '007'),
    fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,20}$/),
  );
  const word = oddText().filter((text) => text !== '');
  const key = fc.oneof(
    fc.constantFrom('id', 'title', 'extra', 'edges', 'body', '__proto__', 'x'.repeat(2_000)),
    oddText(),
  );
  // Minus zero is no JSON.
  const value = fc.jsonValue({ maxDepth: 3 }).map((json) => JSON.parse(JSON.stringify(json)) as unknown);
  const extra = fc.array(fc.tuple(key, fc.oneof(oddText(), value)), { minLength: 1, maxLength: 5 });
  return fc.record(
    {
      id,
      type: word,
      status: oddText(),
      edges: fc.array(fc.record({ type: word, to: id }), { maxLength: 4 }),
      title: oddText(),
      project: oddText(),
      priority: oddText(),
      summary: oddText(),
      body: oddText(),
      date: oddText(),
      needed_by: oddText(),
      extra: extra.map((entries) => Object.fromEntries(entries)),
    },
    { requiredKeys: ['id', 'type', 'status', 'edges'] },
  );
}
