import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.ts';

/** The clients of one database: one pool for the engine's batches, another for reads, so that neither starves. */
export interface Clients {
  readonly engine: PrismaClient;
  readonly reads: PrismaClient;
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly url: string;
  /** Connections of each pool. */
  readonly poolSize: number;
  /** The name a text is prepared under, or undefined to send it unprepared. */
  readonly nameOf?: (sql: string) => string | undefined;
  /** Told of connections that broke while nobody used them; the pool replaces them. */
  readonly onLostConnection: (error: Error) => void;
  readonly limits?: ConnectionLimits;
}

/** Limits of every wait on a connection, ms. A frozen server or a lost answer costs at most these. */
export interface ConnectionLimits {
  readonly connectionTimeoutMillis: number;
  readonly query_timeout: number;
  readonly statement_timeout: number;
  readonly lock_timeout: number;
  readonly idle_in_transaction_session_timeout: number;
}

const LIMITS: ConnectionLimits = {
  connectionTimeoutMillis: 3_000,
  query_timeout: 6_000,
  statement_timeout: 5_000,
  lock_timeout: 1_000,
  idle_in_transaction_session_timeout: 2_000,
};

/**
 * A connection that ends when an answer is overdue. The driver gives up that one call only, and what follows on the
 * connection waits behind it for as long again: the ROLLBACK, and then the BEGIN of whoever is lent it next.
 */
class Connection extends pg.Client {
  override query(...parameters: readonly unknown[]): never {
    const answer: unknown = super.query(...(parameters as Parameters<pg.Client['query']>));
    // The pool's own calls bring a callback, and it throws their connection away after any error.
    if (answer instanceof Promise) answer.catch((error: Error) => this.#endIfOverdue(error));
    return answer as never;
  }

  #endIfOverdue({ message }: Error): void {
    if (message === 'Query read timeout') void this.end().catch(() => {});
  }
}

/**
 * The engine's statements always look rows up by key: a plan made for the size of today's arrays would scan the whole
 * table for a thousand ids.
 */
const ENGINE_SETTINGS = [
  '-c plan_cache_mode=force_generic_plan',
  '-c enable_seqscan=off',
  '-c enable_bitmapscan=off',
  '-c enable_hashjoin=off',
  '-c enable_mergejoin=off',
  '-c enable_material=off',
  '-c default_transaction_isolation=read\\ committed',
].join(' ');

export function connect({ url, poolSize, nameOf, onLostConnection, limits = LIMITS }: ConnectOptions): Clients {
  const told = { onPoolError: onLostConnection, onConnectionError: onLostConnection };
  const pool = (settings: string, application_name: string) => ({
    connectionString: withSettings(url, settings),
    max: poolSize,
    application_name,
    keepAlive: true,
    Client: Connection,
    ...limits,
  });
  const engine = new PrismaClient({
    adapter: new PrismaPg(pool(ENGINE_SETTINGS, 'holdfast-engine'), {
      ...told,
      // No name leaves a text unprepared, which the adapter's type does not say.
      ...(nameOf && { statementNameGenerator: ({ sql }: { sql: string }) => nameOf(sql) as string }),
    }),
  });
  const reads = new PrismaClient({ adapter: new PrismaPg(pool('', 'holdfast-reads'), told) });
  return {
    engine,
    reads,
    async close() {
      await Promise.all([engine.$disconnect(), reads.$disconnect()]);
    },
  };
}

/** The URL with more server settings, beside those that its `options` has. */
function withSettings(url: string, settings: string): string {
  if (settings === '') return url;
  const parsed = new URL(url);
  const given = parsed.searchParams.get('options');
  parsed.searchParams.set('options', given === null ? settings : `${given} ${settings}`);
  return parsed.href;
}
