import { Hono } from 'hono';
import { type Logger, pino } from 'pino';
import type { ServerConfig } from './config.ts';
import { type Clients, connect } from './db/connect.ts';
import { type EmbeddedDatabase, startEmbedded } from './db/embedded.ts';
import { migrate } from './db/migrate.ts';
import { createEngine, type Engine } from './engine/engine.ts';
import { statementName } from './engine/statements.ts';
import { createDoorbell } from './events/doorbell.ts';
import { createExpiry } from './events/expiry.ts';
import { createLive, type Live } from './events/live.ts';
import { createRetention } from './events/retention.ts';
import { createGraphql } from './graphql/server.ts';
import { createSocketDoor, type SocketDoor } from './graphql/websocket.ts';
import { HTTP_LIMITS, type HttpServer, listen } from './http.ts';
import { createAuthenticate } from './identity/authenticate.ts';
import { firstStart } from './identity/first-start.ts';
import { keepToken, tokenFile } from './identity/token-file.ts';
import { createTokenWatch, type TokenWatch } from './identity/token-watch.ts';
import { readClock } from './read/clock.ts';
import type { RestEnv } from './rest/door.ts';
import { openRest } from './rest/rest.ts';
import type { Readiness } from './rest/server-routes.ts';
import { createOpenStreams, type OpenStreams } from './rim/open-streams.ts';
import { requestRim } from './rim/request.ts';

/** The one place of wiring: configuration → database → engine → identity → doors. */
export interface App {
  readonly url: string;
  /** Where the data folder really is; null with a server database. */
  readonly dataDir: string | null;
  /** Where the first admin's token is kept; null with a server database. */
  readonly tokenFile: string | null;
  /** The first admin's token, if this start made it. Shown once. */
  readonly adminToken: string | null;
  /** Takes no new work, answers what it has, then lets the database go. */
  stop(): Promise<void>;
}

export async function startApp(config: ServerConfig): Promise<App> {
  const log = pino({ level: config.logLevel, redact: ['req.headers.authorization', 'token'] });
  const undo: (() => Promise<void>)[] = [];
  try {
    const embedded = config.databaseUrl === null ? await startEmbedded({ folder: config.dataDir, log }) : null;
    if (embedded !== null) undo.push(() => embedded.stop());
    const url = config.databaseUrl ?? (embedded as EmbeddedDatabase).url;
    await migrate(url);
    const clients = connect({
      url,
      poolSize: config.poolSize,
      ...(config.namedStatements && { nameOf: statementName }),
      onLostConnection: (err) => log.warn({ err }, 'a database connection was lost'),
    });
    undo.push(() => clients.close());
    const dataDir = embedded?.folder ?? null;
    const file = dataDir === null ? null : tokenFile(dataDir);
    const keep = async (token: string) => (file === null ? undefined : keepToken(file, token));
    const adminToken = await firstStart(clients.reads, config.adminToken, keep);
    const tokens = createTokenWatch({ reads: clients.reads, log });
    const live = createLive(clients.reads, log, tokens.runOnce);
    const doorbell = createDoorbell({ url, onRing: () => live.relay.ring(), log });
    const engine = createEngine({
      client: clients.engine,
      onEvents: () => doorbell.ring(),
      onMoved: live.boards.moved,
    });
    undo.push(() => engine.stop());
    const { eventsMax: mostEvents, eventsMaxAgeMs: longestAgeMs } = config;
    for (const loop of [
      createExpiry({ engine, reads: clients.reads, log }),
      createRetention({ client: clients.reads, mostEvents, longestAgeMs, log }),
      live.relay,
      live.expiring,
      live.boards,
      tokens,
      doorbell,
    ]) {
      loop.start();
      undo.push(() => loop.stop());
    }
    const { fetch, sockets, streams, notReady } = createDoors(clients, engine, log, live, tokens);
    const http = await listen(fetch, config.host, config.port, HTTP_LIMITS, sockets.upgrade);
    undo.push(() => stopDoors(http, sockets, streams, notReady, config.stopTimeoutMs));
    return { url: http.url, dataDir, tokenFile: file, adminToken, stop: () => unwind(undo) };
  } catch (error) {
    // Why it did not start is what the operator needs to hear, whatever else goes wrong on the way down.
    await unwind(undo).catch(() => {});
    throw error;
  }
}

/** REST, GraphQL and the probes behind one function of requests. */
export function createDoors(
  clients: Clients,
  engine: Engine,
  log: Logger,
  live: Live = createLive(clients.reads, log),
  tokens: TokenWatch = createTokenWatch({ reads: clients.reads, log }),
): Readiness & { readonly fetch: Hono['fetch']; readonly sockets: SocketDoor; readonly streams: OpenStreams } {
  const { reads } = clients;
  const streams = createOpenStreams(log);
  const parts = { engine, reads, live, tokens, streams, authenticate: createAuthenticate(reads), log };
  const door = new Hono<RestEnv>();
  const graphql = createGraphql(parts);
  door.use(requestRim(log));
  door.all('/graphql', (c) => graphql.fetch(c.req.raw, c.get('requestId')));
  const { notReady } = openRest(door, { ...parts, check: () => readClock(reads) });
  const sockets = createSocketDoor({ ...parts, enveloped: graphql.enveloped });
  return { fetch: door.fetch, sockets, streams, notReady };
}

async function stopDoors(
  http: HttpServer,
  sockets: SocketDoor,
  streams: OpenStreams,
  notReady: () => void,
  limitMs: number,
): Promise<void> {
  notReady();
  streams.stop();
  await Promise.all([sockets.stop(), http.stop(limitMs)]);
}

/** Takes down in the opposite order of building up, also what stands behind a step that fails. */
async function unwind(undo: (() => Promise<void>)[]): Promise<void> {
  const failed: unknown[] = [];
  for (let step = undo.pop(); step !== undefined; step = undo.pop()) {
    await step().catch((error: unknown) => failed.push(error));
  }
  if (failed.length > 0) throw failed[0];
}
