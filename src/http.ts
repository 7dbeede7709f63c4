import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ServerType, serve } from '@hono/node-server';
import { Hono } from 'hono';

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
    const server: ServerType = serve({ fetch, hostname: host, port }, (address) => {
      server.removeListener('error', failed);
      started({ url: urlOf(address), stop: (limitMs) => stop(server as Server, limitMs) });
    });
    server.once('error', failed);
  });
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

function stop(server: Server, limitMs: number): Promise<void> {
  return new Promise((stopped) => {
    const limit = setTimeout(() => server.closeAllConnections(), limitMs);
    server.close(() => {
      clearTimeout(limit);
      stopped();
    });
    server.closeIdleConnections();
  });
}

/** Readiness, which a stopping server gives up first. */
export interface Probes {
  readonly routes: Hono;
  notReady(): void;
}

/** @param check rejects when the database does not answer */
export function createProbes(check: () => Promise<unknown>): Probes {
  let ready = true;
  const routes = new Hono();
  routes.get('/livez', (c) => c.json({ status: 'ok' }));
  routes.get('/readyz', async (c) => {
    if (!ready) return c.json({ status: 'stopping' }, 503);
    try {
      await check();
      return c.json({ status: 'ok' });
    } catch {
      // Why is the log's to tell, where the calls that need the database report it.
      return c.json({ status: 'the database does not answer' }, 503);
    }
  });
  return {
    routes,
    notReady() {
      ready = false;
    },
  };
}
