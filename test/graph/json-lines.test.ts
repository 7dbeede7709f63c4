import { describe, expect, it } from 'vitest';
import { parseLine } from '../../src/graph/json-lines.ts';

describe('reading one JSON line', () => {
  it('takes the shape of an element of POST /v1/nodes', () => {
    const node = {
      id: 'task-1',
      type: 'task',
      title: 'Lease',
      status: 'active',
      project: 'p1',
      priority: 'p2',
      summary: 'Short.',
      body: 'Long.',
      date: '2026-06-11',
      needed_by: '2026-07-01',
      extra: { author: 'person-ada', title: 1 },
      edges: [{ type: 'blocks', to: 'task-2' }],
      steward_ids: ['person-ada'],
    };
    expect(parseLine(`${JSON.stringify(node)}\r`)).toEqual({ ok: true, node, notes: [] });
  });

  it.each(['', '  ', '\ufeff', '\r'])('passes over an empty line', (line) => {
    expect(parseLine(line)).toBeNull();
  });

  it('takes null for absent', () => {
    expect(parseLine('{"id":"a","type":"task","title":null,"edges":null}')).toEqual({
      ok: true,
      node: { id: 'a', type: 'task', edges: [] },
      notes: [],
    });
  });

  it('says which fields it left out', () => {
    expect(parseLine('{"id":"a","type":"task","author":"ada"}')).toMatchObject({
      ok: true,
      notes: ['These fields are not known and were left out: author. Put them under extra.'],
    });
  });

  it.each([
    ['no JSON', '{"id":', null, /no JSON object/],
    ['no object', '[1]', null, /no JSON object/],
    ['no id', '{"type":"task"}', null, /no id/],
    ['an id that is a number', '{"id":1,"type":"task"}', null, /id 1 is malformed/],
    ['a malformed id', '{"id":"A","type":"task"}', 'A', /"A" is malformed/],
    ['no type', '{"id":"a"}', 'a', /no type/],
    ['a title that is a number', '{"id":"a","type":"t","title":1}', 'a', /field title is no text: 1/],
    ['a body that is a list', '{"id":"a","type":"t","body":[]}', 'a', /field body is no text/],
    ['an extra that is a list', '{"id":"a","type":"t","extra":[]}', 'a', /extra is no object/],
    ['an edge without a target', '{"id":"a","type":"t","edges":[{"type":"b"}]}', 'a', /Edge 1, .* has no target/],
  ])('gives a reason for %s', (_, line, id, reason) => {
    expect(parseLine(line)).toEqual({ ok: false, id, reason: expect.stringMatching(reason) });
  });
});
