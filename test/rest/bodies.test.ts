import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDoorsRig, type Doors, type Json, ORIGIN } from '../support/doors.ts';

let doors: Doors;
beforeAll(async () => {
  doors = await createDoorsRig();
});
afterAll(() => doors.close());

const LIMIT = 1_048_576;

/** A body in chunks has no announced length. */
function inChunks(text: string, size = 65_536): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, at + size));
      at += size;
    },
  });
}

async function send(
  path: string,
  body: string | ReadableStream<Uint8Array> | undefined,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: Json; headers: Headers }> {
  const init = {
    method: 'POST',
    headers: { Authorization: `Bearer ${doors.token('ana')}`, ...headers },
    // A text would bring a content type along; bytes bring none.
    ...(body !== undefined && { body: typeof body === 'string' ? new TextEncoder().encode(body) : body }),
    duplex: 'half',
  };
  const answer = await doors.fetch(new Request(ORIGIN + path, init as RequestInit));
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

describe('a body of REST', () => {
  it.each([
    ['that is not there', undefined, {}],
    ['that is empty', '', { 'Content-Type': 'application/json' }],
    ['of white space', ' \n\t ', { 'Content-Type': 'application/json' }],
    ['that is {}', '{}', { 'Content-Type': 'application/json; charset=utf-8' }],
    ['that is null in every field', '{"session":null,"dispatch":null,"force":null}', {}],
    ['with fields that nobody knows', '{"what":1,"by":"bo","person":"bo"}', { 'Content-Type': 'application/json' }],
    ['of another type of JSON', '{}', { 'Content-Type': 'application/merge-patch+json' }],
    ['with a byte order mark', '\ufeff{}', {}],
  ])('%s is taken', async (_name, body, headers) => {
    const id = await doors.node();
    const answer = await send(`/v1/nodes/${id}/claim`, body, headers as Record<string, string>);
    expect(answer).toMatchObject({ status: 200, body: { lease: { by: 'ana', session: null } } });
  });

  it('without content type is read as JSON', async () => {
    const id = await doors.node();
    const { body } = await send(`/v1/nodes/${id}/claim`, '{"session":"run-1"}');
    expect(body.lease.session).toBe('run-1');
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'x',
  ])('that is said to be %s is refused with 415', async (type) => {
    const { status, body } = await send('/v1/queue/renew', '{}', { 'Content-Type': type });
    expect([status, body.error.code]).toEqual([415, 'unsupported_media_type']);
    expect(body.error.message).toContain(type);
  });

  it.each(['{', '{"a":}', "{'a':1}", '{} {}', 'ids=a', '\0', 'NaN', 'undefined', '{"a":1,}'])(
    'that is no JSON, %s, is refused with 400',
    async (text) => {
      const { status, body } = await send('/v1/queue/renew', text);
      expect([status, body.error.code]).toEqual([400, 'invalid_json']);
    },
  );

  it.each(['[]', '[{}]', 'null', '"text"', '7', 'true'])('that is no object, %s, is refused with 422', async (text) => {
    for (const path of ['/v1/queue/renew', '/v1/nodes/some-node/claim', '/v1/queue/claim']) {
      const { status, body } = await send(path, text);
      expect([status, body.error.code]).toEqual([422, 'invalid_input']);
      expect(body.error.message).toBe('The body must be an object.');
    }
  });

  it('that is nested as deep as it fits in is refused without a fault', async () => {
    const depth = 500_000;
    const nested = `{"ids":${'['.repeat(depth)}${']'.repeat(depth)},"session":null}`;
    expect((await send('/v1/queue/claim', nested)).status).toBe(422);
    const extra = `{"nodes":[{"id":"deep","type":"task","extra":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}]}`;
    const headers = { Authorization: `Bearer ${doors.token('admin')}` };
    const put = await send('/v1/nodes', extra, headers);
    expect(put).toMatchObject({ status: 200, body: { results: [{ id: 'deep', status: 'failed' }] } });
  });
});

describe('the limit of a body', () => {
  const padded = (text: string, length: number) => text + ' '.repeat(length - text.length);
  const query = '{"query":"{ serverTime }"}';
  const json = { 'Content-Type': 'application/json' };

  it.each([
    ['REST', '/v1/queue/renew', '{}'],
    ['GraphQL', '/graphql', query],
  ])('of %s is 1,048,576 bytes, announced or counted', async (_door, path, text) => {
    for (const [length, status] of [
      [LIMIT, 200],
      [LIMIT + 1, 413],
    ] as const) {
      const body = padded(text, length);
      const announced = await send(path, body, { ...json, 'Content-Length': String(length) });
      const counted = await send(path, inChunks(body), json);
      expect([length, announced.status, counted.status]).toEqual([length, status, status]);
    }
  });

  it('counts bytes, not characters', async () => {
    const body = `{"session":"${'ä'.repeat(LIMIT / 2)}"}`;
    expect((await send('/v1/queue/renew', inChunks(body))).status).toBe(413);
  });

  it('is told in JSON on both doors, and ends the connection', async () => {
    const body = padded(query, LIMIT + 1);
    const rest = await send('/v1/queue/renew', inChunks(body), json);
    expect(rest.body).toMatchObject({ error: { code: 'too_large', message: expect.stringContaining('1048576') } });
    const graphql = await send('/graphql', inChunks(body), json);
    expect(graphql.body).toMatchObject({ errors: [{ extensions: { code: 'TOO_LARGE' } }] });
    for (const { headers } of [rest, graphql]) expect(headers.get('Connection')).toBe('close');
  });

  it('leaves room for the longest legal list of ids', async () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `${index}-`.padEnd(200, 'a'));
    const { status, body } = await send('/v1/queue/claim', JSON.stringify({ ids }), json);
    expect([status, body.failed.length]).toEqual([200, 1_000]);
  });

  it('reads no more of an endless body than it has to', async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    expect((await send('/v1/queue/renew', endless, json)).status).toBe(413);
    expect(sent).toBeLessThan(2 * LIMIT);
  });
});
