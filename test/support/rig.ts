import { type Clients, connect } from '../../src/db/connect.ts';
import { createEngine, type Engine, type EngineOptions } from '../../src/engine/engine.ts';
import { statementName } from '../../src/engine/statements.ts';
import type { Caller } from '../../src/lease/command.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

/** An engine on a database of its own, with one tenant, some people, an agent of ana's twice, and nodes on demand. */
export interface EngineRig {
  readonly database: TestDatabase;
  readonly clients: Clients;
  readonly engine: Engine;
  /** Another engine on the same database, as another replica has it. */
  another(options?: Partial<EngineOptions>): Engine;
  addNodes(ids: readonly string[], fields?: { type?: string; status?: string | null; project?: string }): Promise<void>;
  close(): Promise<void>;
}

export const TENANT = 'acme';
export const ana: Caller = { person: 'ana', agent: null };
export const anasAgent: Caller = { person: 'ana', agent: 'ana-one' };
export const anasOtherAgent: Caller = { person: 'ana', agent: 'ana-two' };
export const bo: Caller = { person: 'bo', agent: null };
export const cleo: Caller = { person: 'cleo', agent: null };

export async function createEngineRig(options: Partial<EngineOptions> = {}): Promise<EngineRig> {
  const database = await createTestDatabase();
  await database.sql(`INSERT INTO tenant (tenant_id, name, created_at) VALUES ('${TENANT}', 'Acme', now())`);
  await database.sql(
    `INSERT INTO person (tenant_id, person_id, name, created_at)
     SELECT '${TENANT}', id, initcap(id), now() FROM unnest('{ana,bo,cleo,dan}'::text[]) AS id`,
  );
  await database.sql(
    `INSERT INTO agent (tenant_id, agent_id, owner_id, created_at)
     SELECT '${TENANT}', id, 'ana', now() FROM unnest('{ana-one,ana-two}'::text[]) AS id`,
  );
  const clients = connectTo(database.url);
  const others: Clients[] = [];
  const engine = createEngine({ client: clients.engine, ...options });
  return {
    database,
    clients,
    engine,
    another(more = {}) {
      const own = connectTo(database.url);
      others.push(own);
      return createEngine({ client: own.engine, ...more });
    },
    async addNodes(ids, { type = 'task', status = 'open', project = 'p1' } = {}) {
      await database.sql(
        `WITH made AS (INSERT INTO lease (tenant_id, node_id) SELECT $1, unnest($2::text[]))
         INSERT INTO work_node (tenant_id, node_id, type, status, project, created_at, updated_at)
         SELECT $1, unnest($2::text[]), $3, $4, $5, now(), now()`,
        TENANT,
        ids,
        type,
        status,
        project,
      );
    },
    async close() {
      await engine.stop();
      await Promise.all([clients, ...others].map((each) => each.close()));
      await database.drop();
    },
  };
}

export function connectTo(url: string, poolSize = 8): Clients {
  return connect({ url, poolSize, nameOf: statementName, onLostConnection: () => {} });
}
