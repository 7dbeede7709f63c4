import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSocketRig, type RawSocket, type SocketRig } from '../support/socket-rig.ts';
import { until } from '../support/until.ts';

/** What the door over WebSocket refuses, and how it says so. */
let rig: SocketRig;
beforeAll(async () => {
  rig = await createSocketRig(
    { initTimeoutMs: 700, pingMs: 500, subscriptionsPerSocket: 3, mostSockets: 300 },
    { executeOne: () => Promise.reject(new Error('the secret of the house')) },
  );
});
afterEach(() => rig.dropAll());
afterAll(() => rig.close());

const EVENTS = 'subscription { leaseEvents { __typename } }';
const subscribe = (id: string, query: string) => ({ id, type: 'subscribe', payload: { query } });
const init = (payload?: unknown) => ({ type: 'connection_init', ...(payload !== undefined && { payload }) });
const bearer = (who = 'ana') => `Bearer ${rig.doors.token(who)}`;

async function opened(options?: Parameters<SocketRig['open']>[0]): Promise<RawSocket> {
  const raw = rig.open(options);
  await once(raw.socket, 'open');
  return raw;
}

describe('before a socket is let in', () => {
  it('closes one that says nothing within the time for it: 4408', async () => {
    expect(await (await opened()).closed).toMatchObject({ code: 4408 });
  });

  it.each([
    ['no payload', undefined],
    ['no token', {}],
    ['a token that is none', { authorization: 'Bearer nonsense' }],
    ['a token of nobody', { authorization: `Bearer hf_acme_${'a'.repeat(43)}` }],
    ['a token that is no text', { authorization: { toString: 'Bearer' } }],
    ['a payload that is no object', 'Bearer'],
  ])('closes one with %s: 4403', async (_name, payload) => {
    const raw = await opened();
    raw.send(init(payload));
    expect((await raw.closed).code).toBe(payload === 'Bearer' ? 4400 : 4403);
  });

  it.each(['authorization', 'Authorization', 'AUTHORIZATION'])('takes the token under %s', async (name) => {
    const raw = await opened();
    raw.send(init({ [name]: bearer() }));
    expect(await raw.next()).toEqual({ type: 'connection_ack' });
  });

  it('takes no other subprotocol, and none at all', async () => {
    const other = rig.open({ protocols: ['graphql-ws'] });
    expect((await other.closed).code).toBeGreaterThanOrEqual(1000);
    expect(other.socket.protocol).toBe('');
    expect(await (await opened({ protocols: [] })).closed).toMatchObject({ code: 4406 });
  });

  it('refuses an operation: 4401', async () => {
    const raw = await opened();
    raw.send(subscribe('1', '{ viewer { isAdmin } }'));
    expect(await raw.closed).toMatchObject({ code: 4401 });
  });

  it.each(['/', '/graphql/', '/v1/events', '/%00'])('answers an upgrade on %s by 404, and closes', async (path) => {
    const { port } = new URL(rig.url);
    const socket = connect(Number(port), '127.0.0.1');
    const lines = [`GET ${path} HTTP/1.1`, 'Host: a', 'Connection: Upgrade', 'Upgrade: websocket', '', ''];
    socket.write(lines.join('\r\n'));
    let text = '';
    for await (const chunk of socket) text += chunk;
    expect(text).toMatch(/^HTTP\/1.1 404 Not Found\r\n/);
  });
});

describe('a message against the protocol', () => {
  it.each([
    ['no JSON', 'nonsense', 4400],
    ['a JSON that is no message', '[]', 4400],
    ['a type that is none', '{"type":"nonsense"}', 4400],
    ['one that only servers send', '{"type":"connection_ack"}', 4400],
    ['an operation without an id', '{"type":"subscribe","payload":{"query":"{ viewer { isAdmin } }"}}', 4400],
    ['an operation without a document', '{"id":"1","type":"subscribe","payload":{}}', 4400],
    ['a second init', '{"type":"connection_init"}', 4429],
    ['more than 1 MiB', `{"type":"ping","payload":{"a":"${'a'.repeat(1_048_576)}"}}`, 1009],
  ])('closes the socket: %s', async (_name, message, code) => {
    const raw = await rig.letIn();
    raw.send(message);
    expect((await raw.closed).code).toBe(code);
  });

  it('closes the socket: an id that is in use, 4409', async () => {
    const raw = await rig.letIn();
    raw.send(subscribe('1', EVENTS));
    await raw.next();
    raw.send(subscribe('1', EVENTS));
    expect((await raw.closed).code).toBe(4409);
  });
});

describe('on a socket', () => {
  it('answers a message of nearly 1 MiB, and a ping', async () => {
    const raw = await rig.letIn();
    raw.send({ type: 'ping', payload: { a: 'a'.repeat(1_000_000) } });
    expect(await raw.next()).toMatchObject({ type: 'pong' });
  });

  it('refuses one operation too many and lets the others go on', async () => {
    const raw = await rig.letIn();
    for (const id of ['1', '2', '3']) {
      raw.send(subscribe(id, EVENTS));
      expect(await raw.next()).toMatchObject({ id, type: 'next' });
    }
    raw.send(subscribe('4', EVENTS));
    const refused = { message: expect.stringContaining('3'), extensions: { code: 'LIMIT_REACHED', limit: 3 } };
    expect(await raw.next()).toEqual({ id: '4', type: 'error', payload: [refused] });
    raw.send({ id: '2', type: 'complete' });
    raw.send(subscribe('5', EVENTS));
    expect(await raw.next()).toMatchObject({ id: '5', type: 'next' });
  });

  it('tells a fault of the server without what it was', async () => {
    const raw = await rig.letIn();
    raw.send(subscribe('1', 'mutation { claimLease(input: { nodeId: "n" }) { ... on ClaimLeaseSuccess { status } } }'));
    const answer = await raw.next();
    expect(answer).toMatchObject({ type: 'next' });
    expect(answer.payload.errors?.[0].extensions).toMatchObject({ code: 'INTERNAL' });
    expect(JSON.stringify(answer)).not.toContain('secret');
  });

  it('shows the schema as HTTP does, and tells no status of HTTP', async () => {
    const raw = await rig.letIn();
    const query = '{ __schema { subscriptionType { fields { name } } } }';
    raw.send(subscribe('1', query));
    const { payload } = await raw.next();
    expect(payload.data).toEqual((await rig.doors.graphql('ana', query)).data);
    await raw.next();
    for (const bad of ['{', '{ nonsense }', 'query ($a: ID!) { workNode(nodeId: $a) { title } }']) {
      raw.send(subscribe('2', bad));
      const answer = JSON.stringify(await raw.next());
      expect(answer).toContain('"message"');
      expect(answer).not.toContain('"http"');
      if (!answer.includes('"type":"error"')) await raw.next();
    }
    expect(raw.socket.readyState).toBe(raw.socket.OPEN);
  });

  it('ends when the time of its token is up: 4403', async () => {
    const { token } = (
      await rig.doors.graphql('admin', 'mutation { createToken(input: { personId: "bo" }) { token } }')
    ).data.createToken;
    rig.doors.introduce('brief', token);
    const raw = await rig.letIn('brief');
    await rig.doors.database.sql(
      `UPDATE api_token SET expires_at = holdfast_now() WHERE person_id = 'bo' AND label IS NULL`,
    );
    expect(await raw.closed).toMatchObject({ code: 4403 });
  });

  it('lets go of one that no longer answers pings', async () => {
    const raw = await rig.letIn('cleo');
    raw.socket.pause();
    await until('the silent socket is gone', () => rig.tokens.watched === 0);
    raw.socket.resume();
    expect(await raw.closed).toMatchObject({ code: 1006 });
  });
});

it('leaves nothing behind when 200 clients vanish in every way', async () => {
  await until('all sockets of before are gone', () => rig.door.sockets === 0);
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const counts = () => [rig.door.sockets, rig.live.relay.subscribers, rig.tokens.watched];
  const before = timers();
  const { port } = new URL(rig.url);
  const halfway = Array.from({ length: 40 }, () => connect(Number(port), '127.0.0.1'));
  for (const socket of halfway) socket.write('GET /graphql HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n');
  const silent = await Promise.all(Array.from({ length: 40 }, () => opened()));
  const following = await Promise.all(
    Array.from({ length: 120 }, async (_, index) => {
      const raw = await rig.letIn();
      raw.send(subscribe('1', EVENTS));
      await raw.next();
      return { raw, way: index % 4 };
    }),
  );
  await until('all follow', () => rig.live.relay.subscribers === 120);
  expect(counts().slice(1)).toEqual([120, 120]);
  for (const { raw, way } of following) {
    if (way === 0) raw.socket.close();
    else if (way === 1) raw.socket.terminate();
    else if (way === 2) raw.socket.pause();
    else raw.send({ id: '1', type: 'complete' });
    if (way === 3) raw.socket.close();
  }
  for (const socket of halfway) socket.resetAndDestroy();
  await Promise.all(silent.map((raw) => raw.closed));
  await until('nothing is left', () => counts().every((count) => count === 0), { say: () => String(counts()) });
  await until('no timer is left', () => timers() <= before + 2, { say: () => `${timers()}, ${before} before` });
  for (const { raw } of following) raw.socket.terminate();
});
