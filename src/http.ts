import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, Server as Listener } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';

/** Listens, and stops without cutting an answer off. */
export interface HttpServer {
  /** Where it really listens. */
  readonly url: string;
  /** Takes no new connections, lets the requests it has be answered, then closes what is left at the time limit. */
  stop(limitMs: number): Promise<void>;
}

export function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  host: string,
  port: number,
): Promise<HttpServer> {
  return new Promise((started, failed) => {
    const answers = new Set<ServerResponse>();
    const server: ServerType = serve({ fetch, hostname: host, port }, (address) => {
      server.removeListener('error', failed);
      started({ url: urlOf(address), stop: (limitMs) => stop(server as Server, answers, limitMs) });
    });
    server.once('error', failed);
    server.prependListener('request', (_request: IncomingMessage, answer: ServerResponse) => {
      answers.add(answer);
      answer.once('close', () => answers.delete(answer));
    });
  });
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
