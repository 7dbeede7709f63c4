import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, Server as Listener, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ServerType, serve } from '@hono/node-server';
import { asOrdinary, isWebSocket } from './rim/other-upgrade.ts';

/** Listens, and stops without cutting an answer off. */
export interface HttpServer {
  /** Where it really listens. */
  readonly url: string;
  /** Takes no new connections, lets the requests it has be answered, then closes what is left at the time limit. */
  stop(limitMs: number): Promise<void>;
}

/** How long a request may take to arrive, and how long a connection may wait for its next one; ms and bytes. */
export interface HttpLimits {
  /** From the first byte to the end of the headers. */
  readonly headersTimeout: number;
  /** From the first byte to the end of the body. */
  readonly requestTimeout: number;
  /** Between two requests. */
  readonly keepAliveTimeout: number;
  /** How often the first two are looked at. */
  readonly connectionsCheckingInterval: number;
  readonly maxHeaderSize: number;
}

/**
 * A caller who sends slowly costs a connection and no more, but not for ever. An idle connection outlives those of load
 * balancers, which commonly let go after 60 s: who closes first must not be the one who is sent the next request.
 */
export const HTTP_LIMITS: HttpLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16_384,
};

/** Takes over a connection that asks for another protocol. */
export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  host: string,
  port: number,
  limits: HttpLimits = HTTP_LIMITS,
  upgrade?: Upgrade,
): Promise<HttpServer> {
  return new Promise((started, failed) => {
    const answers = new Set<ServerResponse>();
    const server: ServerType = serve({ fetch, hostname: host, port, serverOptions: limits }, (address) => {
      server.removeListener('error', failed);
      started({ url: urlOf(address), stop: (limitMs) => stop(server as Server, answers, limitMs) });
    });
    server.once('error', failed);
    if (upgrade !== undefined) {
      (server as Server).on('upgrade', (request, socket, head) => {
        if (isWebSocket(request)) upgrade(request, socket, head);
        else asOrdinary(server as Server, request, socket, head);
      });
    }
    server.prependListener('request', (request: IncomingMessage, answer: ServerResponse) => {
      answers.add(answer);
      answer.once('close', () => answers.delete(answer));
      answer.prependOnceListener('finish', () => {
        if (!request.complete) lingerBeforeClosing(request.socket);
      });
    });
  });
}

/** How long a caller may go on sending what is not wanted any more. */
const LINGER_MS = 2_000;

/**
 * An answer may come before the body is in, as the one that says that it is too long. Closing at once would reset the
 * connection under a caller who still sends, and the answer would be lost with it. So only our side is closed, what comes
 * is thrown away, and the rest follows when the caller closes too, or after a moment.
 */
function lingerBeforeClosing(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end();
    const limit = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(limit));
  };
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** How long an idle connection stays open for a call that is on its way already. */
const LAST_CALL_MS = 250;

/**
 * From now on each answer asks its caller to close the connection, so that callers who keep theirs busy leave one by one,
 * each with its answer. `http.Server.close` would cut idle connections at once, and with them the calls that were sent
 * and not yet read; so only the listening is closed first, and idle connections a moment later.
 */
function stop(server: Server, answers: ReadonlySet<ServerResponse>, limitMs: number): Promise<void> {
  return new Promise((stopped) => {
    server.prependListener('request', (_request: IncomingMessage, answer: ServerResponse) =>
      lastOfItsConnection(answer),
    );
    for (const answer of answers) lastOfItsConnection(answer);
    const idle = setInterval(() => server.closeIdleConnections(), LAST_CALL_MS);
    const limit = setTimeout(() => server.closeAllConnections(), limitMs);
    Listener.prototype.close.call(server, () => {
      clearInterval(idle);
      clearTimeout(limit);
      server.close();
      stopped();
    });
  });
}

function lastOfItsConnection(answer: ServerResponse): void {
  if (!answer.headersSent) answer.setHeader('Connection', 'close');
}
