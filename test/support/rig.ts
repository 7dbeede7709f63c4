import { type Clients, type ConnectionLimits, connect } from '../../src/db/connect.ts';
import { createEngine, type Engine, type EngineOptions } from '../../src/engine/engine.ts';
import { statementName } from '../../src/engine/statements.ts';
import type { Caller } from '../../src/lease/command.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

/** An engine on a database of its own, with one tenant, some people, two agents of ana's, and nodes on demand. */
export interface EngineRig {
  readonly database: TestDatabase;
  readonly clients: Clients;
  readonly engine: Engine;
  /** Another engine on the same database, as another replica has it. */
  another(options?: RigOptions): Engine;
  addTenant(tenantId: string): Promise<void>;
  addNodes(ids: readonly string[], fields?: NodeFields): Promise<void>;
  close(): Promise<void>;
}

export interface RigOptions extends Partial<EngineOptions> {
  /** Connections of each pool. */
  readonly poolSize?: number;
  /** Another way to the same database. */
  readonly url?: string;
}

interface NodeFields {
  readonly type?: string;
  readonly status?: string | null;
  readonly project?: string | null;
  readonly tenantId?: string;
}

export const TENANT = 'acme';
export const ana: Caller = { person: 'ana', agent: null };
export const anasAgent: Caller = { person: 'ana', agent: 'ana-one' };
export const anasOtherAgent: Caller = { person: 'ana', agent: 'ana-two' };
export const bo: Caller = { person: 'bo', agent: null };
export const cleo: Caller = { person: 'cleo', agent: null };

export async function createEngineRig(options: RigOptions = {}): Promise<EngineRig> {
  const database = await createTestDatabase();
  const clients = connectTo(database.url, options.poolSize);
  const others: { clients: Clients; engine: Engine }[] = [];
  const engine = createEngine({ client: clients.engine, ...options });
  const rig: EngineRig = {
    database,
    clients,
    engine,
    another(more = {}) {
      const own = connectTo(more.url ?? database.url, more.poolSize);
      const other = createEngine({ client: own.engine, ...more });
      others.push({ clients: own, engine: other });
      return other;
    },
    async addTenant(tenantId) {
      await database.sql('INSERT INTO tenant (tenant_id, name, created_at) VALUES ($1, $1, now())', tenantId);
      await database.sql(
        `INSERT INTO person (tenant_id, person_id, name, created_at)
         SELECT $1, id, initcap(id), now() FROM unnest('{ana,bo,cleo,dan}'::text[]) AS id`,
        tenantId,
      );
      await database.sql(
        `INSERT INTO agent (tenant_id, agent_id, owner_id, created_at)
         SELECT $1, id, 'ana', now() FROM unnest('{ana-one,ana-two}'::text[]) AS id`,
        tenantId,
      );
    },
    async addNodes(ids, { type = 'task', status = 'open', project = 'p1', tenantId = TENANT } = {}) {
      // In chunks, since a long transaction of one test is felt by all others on the server.
      for (let start = 0; start < ids.length; start += 5_000) {
        await database.sql(
          `WITH made AS (INSERT INTO lease (tenant_id, node_id) SELECT $1, unnest($2::text[]))
           INSERT INTO work_node (tenant_id, node_id, type, status, project, created_at, updated_at)
           SELECT $1, unnest($2::text[]), $3, $4, $5, now(), now()`,
          tenantId,
          ids.slice(start, start + 5_000),
          type,
          status,
          project,
        );
      }
    },
    async close() {
      await Promise.all([engine, ...others.map((other) => other.engine)].map((each) => each.stop()));
      await Promise.all([clients, ...others.map((other) => other.clients)].map((each) => each.close()));
      await database.drop();
    },
  };
  await rig.addTenant(TENANT);
  return rig;
}

export function connectTo(url: string, poolSize = 8, limits?: ConnectionLimits): Clients {
  return connect({ url, poolSize, nameOf: statementName, onLostConnection: () => {}, ...(limits && { limits }) });
}
