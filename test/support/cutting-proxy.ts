import { createConnection, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { join } from 'node:path';

/**
 * A way to PostgreSQL that loses what a test tells it to lose: the answer to a COMMIT but not the COMMIT, or both, by a
 * broken connection or by silence. It listens on this machine and forwards to a port or a Unix socket.
 */
export interface CuttingProxy {
  /** The same database, by way of the proxy. */
  readonly url: string;
  /**
   * Loses the next COMMIT that a client sends. Resolves when it is lost, and where only its answer is, when PostgreSQL
   * has answered.
   */
  loseNextCommit(what: 'answer' | 'request', by?: 'cut' | 'silence'): Promise<void>;
  close(): Promise<void>;
}

interface Loss {
  readonly what: 'answer' | 'request';
  readonly by: 'cut' | 'silence';
  lost(): void;
}

export async function createCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let next: Loss | null = null;
  const server = createServer((client) => {
    const database = createConnection(addressOf(databaseUrl));
    let loss: Loss | null = null;
    for (const socket of [client, database]) {
      sockets.add(socket.setNoDelay());
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket);
          client.destroy();
          database.destroy();
        });
    }
    client.on('data', (chunk) => {
      if (loss !== null) return;
      if (next !== null && chunk.includes('COMMIT')) {
        [loss, next] = [next, null];
        if (loss.what === 'request') {
          lose(loss);
          return;
        }
      }
      database.write(chunk);
    });
    database.on('data', (chunk) => {
      if (loss === null) client.write(chunk);
      else if (loss.what === 'answer') lose(loss);
    });
    function lose({ by, lost }: Loss): void {
      if (by === 'cut') client.destroy();
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
    loseNextCommit(what, by = 'cut') {
      return new Promise((lost) => {
        next = { what, by, lost };
      });
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
