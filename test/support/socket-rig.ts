import { once } from 'node:events';
import { pino } from 'pino';
import WebSocket from 'ws';
import { createEngine, type Engine } from '../../src/engine/engine.ts';
import { createLive, type Live } from '../../src/events/live.ts';
import { createGraphql } from '../../src/graphql/server.ts';
import { createSocketDoor, type SocketDoor, type SocketLimits } from '../../src/graphql/websocket.ts';
import { listen } from '../../src/http.ts';
import { createAuthenticate } from '../../src/identity/authenticate.ts';
import { createTokenWatch, type TokenWatch } from '../../src/identity/token-watch.ts';
import { createOpenStreams } from '../../src/rim/open-streams.ts';
import { createDoorsRig, type Doors, type Json } from './doors.ts';
import { connectTo } from './rig.ts';

const silent = pino({ level: 'silent' });

/** A door over WebSocket with limits of its own, and what stands behind it in sight. */
export interface SocketRig {
  readonly doors: Doors;
  readonly url: string;
  readonly door: SocketDoor;
  readonly live: Live;
  readonly tokens: TokenWatch;
  /** A socket that speaks no protocol by itself. */
  open(options?: { path?: string; protocols?: string[] }): RawSocket;
  /** A socket that was let in. */
  letIn(who?: string): Promise<RawSocket>;
  /** Cuts the sockets that were opened here. */
  dropAll(): void;
  close(): Promise<void>;
}

export interface RawSocket {
  readonly socket: WebSocket;
  send(message: object | string): void;
  /** The next message. Rejects when the socket closes first. */
  next(): Promise<Json>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

export async function createSocketRig(
  limits: Partial<SocketLimits> = {},
  broken: Partial<Engine> = {},
): Promise<SocketRig> {
  const doors = await createDoorsRig();
  await doors.database.clock.runAhead(0);
  const clients = connectTo(doors.database.url, 4);
  const { reads } = clients;
  const engine = { ...createEngine({ client: clients.engine }), ...broken };
  const [live, tokens] = [createLive(reads, silent), createTokenWatch({ reads, log: silent })];
  const streams = createOpenStreams(silent);
  const parts = { engine, reads, live, tokens, streams, authenticate: createAuthenticate(reads), log: silent };
  const { enveloped, fetch } = createGraphql(parts);
  const door = createSocketDoor({ ...parts, enveloped, limits });
  const http = await listen((request) => fetch(request, 'test'), '127.0.0.1', 0, undefined, door.upgrade);
  for (const loop of [live.relay, tokens]) loop.start();
  const url = http.url.replace('http', 'ws');
  const opened: RawSocket[] = [];
  const rig: SocketRig = {
    ...{ doors, url, door, live, tokens },
    open({ path = '/graphql', protocols = ['graphql-transport-ws'] } = {}) {
      const raw = rawSocket(new WebSocket(url + path, protocols));
      opened.push(raw);
      return raw;
    },
    async letIn(who = 'ana') {
      const raw = rig.open();
      await once(raw.socket, 'open');
      raw.send({ type: 'connection_init', payload: { authorization: `Bearer ${doors.token(who)}` } });
      const { type } = await raw.next();
      if (type !== 'connection_ack') throw new Error(`not let in: ${type}`);
      return raw;
    },
    dropAll() {
      for (const { socket } of opened.splice(0)) socket.terminate();
    },
    async close() {
      rig.dropAll();
      await Promise.all([door.stop(), http.stop(1_000), live.relay.stop(), tokens.stop()]);
      await engine.stop();
      await clients.close();
      await doors.close();
    },
  };
  return rig;
}

function rawSocket(socket: WebSocket): RawSocket {
  const messages: Json[] = [];
  let wake = () => {};
  let over = false;
  socket.on('message', (data) => {
    messages.push(JSON.parse(String(data)));
    wake();
  });
  // How it failed shows in its close.
  socket.on('error', () => {});
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => {
      over = true;
      wake();
      resolve({ code, reason: String(reason) });
    });
  });
  return {
    socket,
    closed,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async next() {
      while (messages.length === 0) {
        if (over) throw new Error(`closed: ${JSON.stringify(await closed)}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return messages.shift();
    },
  };
}
