import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FOLLOW } from '../support/follow-seqs.ts';
import { createSocketRig, type RawSocket, type SocketRig } from '../support/socket-rig.ts';
import { until } from '../support/until.ts';

/** B48: whoever goes away, however, leaves nothing behind, and no event is needed to find out. */
const EACH = 200;
const AT_ONCE = 50;

let rig: SocketRig;
beforeAll(async () => {
  rig = await createSocketRig({ pingMs: 1_000, initTimeoutMs: 1_000 });
});
afterAll(() => rig.close());

const counts = () => ({
  subscribers: rig.live.relay.subscribers,
  watched: rig.tokens.watched,
  sockets: rig.door.sockets,
});

/** Sockets and timers of this process, which is the server's as well as the clients'. */
const resources = () =>
  process.getActiveResourcesInfo().filter((name) => name === 'Timeout' || name === 'TCPSocketWrap').length;

/** The TCP socket under a client's. */
const wire = ({ socket }: RawSocket) => (socket as unknown as { _socket: Socket })._socket;

async function subscribed(): Promise<RawSocket> {
  const raw = await rig.letIn('cleo');
  raw.send({ id: '1', type: 'subscribe', payload: { query: FOLLOW } });
  await raw.next();
  return raw;
}

const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  'by closing': async () => (await subscribed()).socket.close(),
  'by completing, then closing': async () => {
    const raw = await subscribed();
    raw.send({ id: '1', type: 'complete' });
    raw.socket.close();
  },
  'by a reset': async () => wire(await subscribed()).resetAndDestroy(),
  'by silence': async () => silent.push(wire(await subscribed()).pause()),
  'before the first message': async () => {
    const raw = await rig.letIn('cleo');
    raw.send({ id: '1', type: 'subscribe', payload: { query: FOLLOW } });
    raw.socket.terminate();
  },
  'with the token on its way': async () => {
    const raw = rig.open();
    await new Promise((resolve) => raw.socket.once('open', resolve));
    raw.send({ type: 'connection_init', payload: { authorization: `Bearer ${rig.doors.token('cleo')}` } });
    raw.socket.terminate();
  },
  'without a word after the handshake': async () => {
    const raw = rig.open();
    await new Promise((resolve) => raw.socket.once('open', resolve));
  },
  'in the middle of the handshake': async () => {
    const { hostname, port } = new URL(rig.url);
    const socket = connect(Number(port), hostname);
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write('GET /graphql HTTP/1.1\r\nHost: holdfast\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n');
    socket.destroy();
  },
};
const silent: Socket[] = [];

it('B48: a first client warms everything up', async () => {
  const raw = await subscribed();
  raw.socket.close();
  await raw.closed;
  await until('it is gone', () => Object.values(counts()).every((count) => count === 0), {
    limitMs: 9_000,
    say: () => JSON.stringify(counts()),
  });
});

it.each(Object.keys(WAYS))(`B48: ${EACH} clients vanish %s`, async (way) => {
  const [before, resourcesBefore] = [counts(), resources()];
  expect(before).toEqual({ subscribers: 0, watched: 0, sockets: 0 });
  for (let made = 0; made < EACH; made += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => WAYS[way]?.()));
  const say = () => JSON.stringify({ ...counts(), resources: resources(), resourcesBefore });
  await until('the counts are what they were', () => Object.values(counts()).every((count) => count === 0), { say });
  for (const socket of silent.splice(0)) socket.destroy();
  // Those of the pools and of the loops come and go.
  await until('timers and sockets are what they were', () => resources() <= resourcesBefore + 12, { say });
});
