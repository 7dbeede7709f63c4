import { createConnection, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { join } from 'node:path';

/**
 * A way to PostgreSQL that loses what a test tells it to lose: the answer to a COMMIT but not the COMMIT, or both, by a
 * broken connection or by silence; or it keeps an answer back for a while. It listens on this machine and forwards to a
 * port or a Unix socket.
 */
export interface CuttingProxy {
  /** The same database, by way of the proxy. */
  readonly url: string;
  /** Connections that clients have open. */
  readonly connections: number;
  /**
   * Loses the next COMMIT that a client sends. Resolves when it is lost, and where only its answer is, when PostgreSQL
   * has answered. After silence nothing passes any more on that connection, not even that the client has closed it.
   */
  loseNextCommit(what: 'answer' | 'request', by?: 'cut' | 'silence'): Promise<void>;
  /** Keeps the answer to the next COMMIT back this long. Resolves when PostgreSQL has answered. */
  delayNextCommit(byMs: number): Promise<void>;
  /** Lets nothing pass on any connection there is, nor on those that come, until it is told to. */
  silence(): void;
  /** Lets nothing pass any more on the connections there are, without a word; those that come are as ever. */
  muteOpen(): void;
  /** Breaks the connections that were silent, and lets everything pass on those that come. */
  speak(): void;
  close(): Promise<void>;
}

interface Loss {
  readonly what: 'answer' | 'request';
  /** A number: comes late by this many ms. */
  readonly by: 'cut' | 'silence' | number;
  lost(): void;
}

export async function createCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  const muted = new WeakSet<Socket>();
  let next: Loss | null = null;
  let silent = false;
  const server = createServer((client) => {
    const database = createConnection(addressOf(databaseUrl));
    let loss: Loss | null = null;
    let mute = false;
    const passes = () => !(mute || silent || muted.has(client));
    clients.add(client);
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(socket.setNoDelay());
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket);
          clients.delete(socket);
          if (passes()) other.destroy();
        });
    }
    client.on('data', (chunk) => {
      if (!passes()) return;
      if (chunk.includes('COMMIT')) [loss, next] = [next, null];
      if (loss?.what === 'request') lose(loss);
      else database.write(chunk);
    });
    database.on('data', (chunk) => {
      if (!passes()) return;
      if (loss === null) client.write(chunk);
      else lose(loss, chunk);
    });
    function lose({ by, lost }: Loss, answer: Buffer | string = ''): void {
      loss = null;
      if (by === 'cut') client.destroy();
      else if (by === 'silence') mute = true;
      else setTimeout(() => client.write(answer), by);
      lost();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = new URL(databaseUrl);
  url.searchParams.delete('host');
  url.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return {
    url: url.href,
    get connections() {
      return clients.size;
    },
    loseNextCommit(what, by = 'cut') {
      return new Promise((lost) => {
        next = { what, by, lost };
      });
    },
    delayNextCommit(byMs) {
      return new Promise((lost) => {
        next = { what: 'answer', by: byMs, lost };
      });
    },
    silence() {
      silent = true;
    },
    muteOpen() {
      for (const client of clients) muted.add(client);
    },
    speak() {
      for (const socket of sockets) socket.destroy();
      silent = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function addressOf(databaseUrl: string): NetConnectOpts {
  const url = new URL(databaseUrl);
  const host = url.searchParams.get('host') ?? url.hostname;
  const port = Number(url.port || 5432);
  return host.startsWith('/') ? { path: join(host, `.s.PGSQL.${port}`) } : { host, port };
}
