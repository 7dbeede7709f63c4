import { pino } from 'pino';
import { createDoors } from '../../src/app.ts';
import type { ConnectionLimits } from '../../src/db/connect.ts';
import { createEngine, type Engine, type EngineOptions } from '../../src/engine/engine.ts';
import { listen } from '../../src/http.ts';
import { createPerson } from '../../src/identity/people.ts';
import { createToken } from '../../src/identity/tokens.ts';
import { type CuttingProxy, createCuttingProxy } from './cutting-proxy.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { createDice, type Dice, seedOfThisRun } from './random.ts';
import { createRestClient, type RestReply } from './rest-client.ts';
import { connectTo } from './rig.ts';

/** A server with both doors on a port, whose way to its database can be cut. People and tasks of one or more tenants. */
export interface FaultRig {
  readonly database: TestDatabase;
  readonly proxy: CuttingProxy;
  readonly engine: Engine;
  /** Where the doors listen. */
  readonly url: string;
  readonly dice: Dice;
  readonly seed: number;
  /** By person, of the first tenant; who is called admin is one. */
  readonly tokens: ReadonlyMap<string, string>;
  /** What the server has logged as a fault of its own. */
  readonly faults: readonly string[];
  /** What it has logged as an outage. */
  readonly outages: readonly string[];
  addTenant(tenantId: string, people: readonly string[]): Promise<ReadonlyMap<string, string>>;
  addTasks(tenantId: string, ids: readonly string[]): Promise<void>;
  rest(token: string, path: string, body?: unknown, method?: 'GET' | 'POST'): Promise<RestReply>;
  graphql(token: string, query: string, variables?: object): Promise<RestReply>;
  close(): Promise<void>;
}

export interface FaultOptions extends Partial<EngineOptions> {
  readonly poolSize?: number;
  readonly connection?: ConnectionLimits;
  readonly people?: readonly string[];
  /** Another than one of its own on the server of all tests. */
  readonly database?: TestDatabase;
}

export const TENANT = 'acme';

/**
 * The limits of a connection, shorter, so that one that is silent costs a test a second; long enough for a busy machine
 * to connect within them and to be at rest between two statements.
 */
export const BRIEF: ConnectionLimits = {
  connectionTimeoutMillis: 1_000,
  query_timeout: 1_000,
  statement_timeout: 800,
  lock_timeout: 200,
  idle_in_transaction_session_timeout: 400,
};

export async function createFaultRig(options: FaultOptions = {}): Promise<FaultRig> {
  const { poolSize = 4, connection, people = ['ana', 'bo', 'cleo', 'dan'], database: _, ...engineOptions } = options;
  const database = options.database ?? (await createTestDatabase());
  const proxy = await createCuttingProxy(database.url);
  const direct = connectTo(database.url, 1);
  const clients = connectTo(proxy.url, poolSize, connection);
  const engine = createEngine({ client: clients.engine, ...engineOptions });
  const [faults, outages]: [string[], string[]] = [[], []];
  const log = pino(
    { level: 'warn' },
    { write: (line) => void (line.includes('"level":50') ? faults : outages).push(line) },
  );
  const http = await listen(createDoors(clients, engine, log).fetch, '127.0.0.1', 0);
  const client = createRestClient(http.url);
  const seed = seedOfThisRun();

  async function addTenant(tenantId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    await database.sql('INSERT INTO tenant (tenant_id, name, created_at) VALUES ($1, $1, holdfast_now())', tenantId);
    const tokens = new Map<string, string>();
    for (const id of ids) {
      await createPerson(direct.reads, tenantId, { id, name: id, email: null });
      const input = { personId: id, agentId: null, label: null, expiresAt: null, admin: id === 'admin' };
      tokens.set(id, (await createToken(direct.reads, tenantId, input)).token);
    }
    return tokens;
  }

  return {
    ...{ database, proxy, engine, url: http.url, seed, dice: createDice(seed), faults, outages },
    tokens: await addTenant(TENANT, people),
    addTenant,
    async addTasks(tenantId, ids) {
      await database.sql(
        `WITH made AS (INSERT INTO lease (tenant_id, node_id) SELECT $1, unnest($2::text[]))
         INSERT INTO work_node (tenant_id, node_id, type, status, project, created_at, updated_at)
         SELECT $1, unnest($2::text[]), 'task', 'open', 'p1', holdfast_now(), holdfast_now()`,
        ...[tenantId, ids],
      );
    },
    rest: (token, path, body, method = 'POST') => client.call(token, method, path, body),
    graphql: (token, query, variables = {}) => client.call(token, 'POST', '/graphql', { query, variables }),
    async close() {
      client.close();
      await http.stop(1_000);
      await engine.stop();
      await Promise.all([clients.close(), direct.close()]);
      await proxy.close();
      await database.drop();
    },
  };
}
