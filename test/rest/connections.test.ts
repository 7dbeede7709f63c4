import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpServer, listen } from '../../src/http.ts';
import { createDoorsRig, type Doors, type Json } from '../support/doors.ts';

/** What only a real connection shows. The time limits are short ones here; nothing waits longer than they say. */
let doors: Doors;
let server: HttpServer;
beforeAll(async () => {
  doors = await createDoorsRig();
  server = await listen(doors.fetch, '127.0.0.1', 0, {
    headersTimeout: 100,
    requestTimeout: 200,
    keepAliveTimeout: 60_000,
    connectionsCheckingInterval: 20,
    maxHeaderSize: 16_384,
  });
});
afterAll(async () => {
  await server.stop(0);
  await doors.close();
});

const LIMIT = 1_048_576;

async function dial(): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket;
}

/** All that comes until the server closes the connection. */
async function untilClosed(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (part: string) => {
    text += part;
  });
  socket.on('error', () => {});
  await once(socket, 'close');
  return text;
}

const head = (method: string, path: string, ...more: string[]) =>
  [`${method} ${path} HTTP/1.1`, 'Host: holdfast', `Authorization: Bearer ${doors.token('ana')}`, ...more, '', ''].join(
    '\r\n',
  );

interface Answered {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Json;
  readonly socket: Socket;
}

/** A call of Node's own client, which sends a text with its length and a list of texts in chunks. */
async function send(path: string, body: string | readonly string[], agent?: Agent): Promise<Answered> {
  const headers = {
    Authorization: `Bearer ${doors.token('ana')}`,
    'Content-Type': 'application/json',
    ...(typeof body === 'string' && { 'Content-Length': String(Buffer.byteLength(body)) }),
  };
  const sent = request(`${server.url}${path}`, { method: 'POST', headers, ...(agent && { agent }) });
  // The server may close before the whole body is sent; what counts is that its answer arrives.
  sent.on('error', () => {});
  const answer = once(sent, 'response') as Promise<[IncomingMessage]>;
  for (const chunk of typeof body === 'string' ? [body] : body) sent.write(chunk);
  sent.end();
  const [message] = await answer;
  const { socket } = message;
  let text = '';
  for await (const part of message.setEncoding('utf8')) text += part;
  return { status: message.statusCode, headers: message.headers, body: JSON.parse(text), socket };
}

describe('a body over the limit', () => {
  const query = '{"query":"{ serverTime }"}';

  it.each([
    ['/v1/queue/renew', '{}', 'announced'],
    ['/v1/queue/renew', '{}', 'in chunks'],
    ['/graphql', query, 'announced'],
    ['/graphql', query, 'in chunks'],
  ])('sent to %s, %s and spaces, %s, is told 413, and the connection ends', async (path, text, way) => {
    const chunks = [text, ...Array.from({ length: 64 }, () => ' '.repeat(LIMIT / 16))];
    const { status, headers, body, socket } = await send(path, way === 'announced' ? chunks.join('') : chunks);
    expect(status).toBe(413);
    expect(headers.connection).toBe('close');
    expect(body.error?.code ?? body.errors[0].extensions.code).toMatch(/^too_large$/i);
    if (!socket.destroyed) await once(socket, 'close');
  });

  it.each(['/v1/queue/renew', '/graphql'])(
    'to %s is refused by its length alone, before any of it is sent',
    async (path) => {
      const socket = await dial();
      const told = untilClosed(socket);
      socket.write(head('POST', path, 'Content-Type: application/json', `Content-Length: ${LIMIT + 1}`));
      expect(await told).toMatch(/^HTTP\/1.1 413 /);
    },
  );

  it.each([
    ['/v1/queue/renew', '{}'],
    ['/graphql', query],
  ])('is one byte longer than what %s takes', async (path, text) => {
    const longest = text + ' '.repeat(LIMIT - text.length);
    expect((await send(path, longest)).status).toBe(200);
    expect((await send(path, [longest.slice(0, 1_000), longest.slice(1_000)])).status).toBe(200);
    expect((await send(path, [longest, ' '])).status).toBe(413);
  });
});

describe('a connection', () => {
  it('is kept for the next call, also after a refusal', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const first = await send('/v1/queue/renew', '{}', agent);
    const refused = await send('/v1/queue/renew', '{', agent);
    const third = await send('/graphql', '{"query":"{ serverTime }"}', agent);
    expect([first.status, refused.status, third.status]).toEqual([200, 400, 200]);
    expect(refused.socket).toBe(first.socket);
    expect(third.socket).toBe(first.socket);
    agent.destroy();
  });

  it('that never sends its headers is closed', async () => {
    const socket = await dial();
    socket.write('GET /v1/me HTTP/1.1\r\nHost: holdfast\r\n');
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1.1 408 /);
  });

  it.each(['/v1/queue/renew', '/graphql'])('that never ends its request to %s is closed', async (path) => {
    const socket = await dial();
    socket.write(`${head('POST', path, 'Content-Type: application/json', 'Content-Length: 100')}{"se`);
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1.1 408 /);
  });

  it('with headers too large is told 431', async () => {
    const socket = await dial();
    socket.write(head('GET', '/v1/me', `X-Padding: ${'x'.repeat(20_000)}`));
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1.1 431 /);
  });

  it.each([
    ['both a length and chunks', ['Content-Length: 2', 'Transfer-Encoding: chunked']],
    ['two lengths', ['Content-Length: 2', 'Content-Length: 3']],
    ['a length that is no number', ['Content-Length: 2x']],
  ])('with %s is told 400', async (_name, headers) => {
    const socket = await dial();
    socket.write(head('POST', '/v1/queue/renew', ...headers));
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1.1 400 /);
  });

  it.each(['*', 'nothing', '//', '/v1/../v1/nothing', '/%', '/v1/nodes/%00', '/\\..\\', 'http://[', '/v1/nodes/a?%'])(
    'that asks for the target %s is answered, and not with a fault',
    async (target) => {
      const socket = await dial();
      socket.write(head('GET', target, 'Connection: close'));
      expect(await untilClosed(socket)).toMatch(/^HTTP\/1.1 4\d\d /);
    },
  );
});
