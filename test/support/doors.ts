import { type Logger, pino } from 'pino';
import { createDoors } from '../../src/app.ts';
import { createEngine, type Engine, type EngineOptions } from '../../src/engine/engine.ts';
import { createAgent, createPerson } from '../../src/identity/people.ts';
import { createToken } from '../../src/identity/tokens.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { createOpenapiCheck } from './openapi-check.ts';
import { connectTo, TENANT } from './rig.ts';

/**
 * Both doors in process, on a database of their own. Two tenants, so that one can look for the other; people ana, bo,
 * cleo and an admin, two agents of ana's, and zoe next door. Time is the database's and moves only when told.
 */
export interface Doors {
  readonly database: TestDatabase;
  readonly engine: Engine;
  /** The clock of all verbs and reads, epoch ms. */
  readonly now: number;
  /** Moves the clock. */
  pass(ms: number): Promise<void>;
  /** The bearer token of a caller. */
  token(who: string): string;
  /** Lets `token` and all calls know another caller. */
  introduce(who: string, token: string): void;
  /** New nodes in the tenant of ana, an open task of project p1 unless said otherwise. */
  node(fields?: NodeFields): Promise<string>;
  nodes(count: number, fields?: NodeFields): Promise<string[]>;
  /** Sets a policy of the tenant, or of a project. */
  policy(settings: Readonly<Record<string, number | null>>, project?: string): Promise<void>;
  /** Any request, as it stands. */
  fetch(request: Request): Promise<Response>;
  /** One call. What it answers is held against `/openapi.json`. */
  rest(who: string, method: string, path: string, body?: unknown): Promise<RestAnswer>;
  graphql(who: string, document: string, variables?: Readonly<Record<string, unknown>>): Promise<GraphqlAnswer>;
  /** Does this once, after the next call has read what it needs and before it writes. */
  beforeNextWrite(action: () => Promise<unknown>): void;
  close(): Promise<void>;
}

export interface NodeFields {
  readonly type?: string;
  readonly status?: string | null;
  readonly project?: string | null;
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever JSON the server sent; the assertion says what it should be.
export type Json = any;

export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

export interface GraphqlAnswer {
  readonly status: number;
  readonly data: Json;
  readonly errors: Json[] | undefined;
}

const START = Date.UTC(2030, 0, 1);
export const OTHER_TENANT = 'globex';
/** Where requests go; nothing listens there. */
export const ORIGIN = 'http://holdfast.test';

const PEOPLE = ['ana', 'bo', 'cleo', 'dan'];
const AGENTS = ['ana-one', 'ana-two'];

export async function createDoorsRig(
  options: Partial<EngineOptions> = {},
  log: Logger = pino({ level: process.env.HOLDFAST_TEST_LOG ?? 'silent' }),
): Promise<Doors> {
  const database = await createTestDatabase();
  const clients = connectTo(database.url, 4);
  const engine = createEngine({ client: clients.engine, ...options });
  let waiting: (() => Promise<unknown>) | null = null;
  const watched: Engine = {
    ...engine,
    async execute(tenantId, commands) {
      const action = waiting;
      waiting = null;
      await action?.();
      return engine.execute(tenantId, commands);
    },
  };
  const { fetch } = createDoors(clients, watched, log);
  const asDocumented = readDocument().then(createOpenapiCheck);
  const tokens = new Map<string, string>();
  let now = START;
  let made = 0;
  await database.clock.stopAt(now);

  async function addTenant(tenantId: string, people: readonly string[], agents: readonly string[]): Promise<void> {
    await database.sql('INSERT INTO tenant (tenant_id, name, created_at) VALUES ($1, $1, holdfast_now())', tenantId);
    const { reads } = clients;
    const base = { label: null, expiresAt: null };
    for (const id of people) {
      await createPerson(reads, tenantId, { id, name: nameOf(id), email: `${id}@${tenantId}.test` });
      const admin = id === 'admin';
      tokens.set(id, (await createToken(reads, tenantId, { ...base, personId: id, agentId: null, admin })).token);
    }
    for (const id of agents) {
      await createAgent(reads, tenantId, { id, ownerId: 'ana', label: null });
      tokens.set(
        id,
        (await createToken(reads, tenantId, { ...base, personId: null, agentId: id, admin: false })).token,
      );
    }
  }
  await addTenant(TENANT, [...PEOPLE, 'admin'], AGENTS);
  await addTenant(OTHER_TENANT, ['zoe'], []);

  async function readDocument(): Promise<Json> {
    return (await fetch(new Request(`${ORIGIN}/openapi.json`))).json();
  }

  function token(who: string): string {
    const found = tokens.get(who);
    if (found === undefined) throw new Error(`nobody is called ${who} here`);
    return found;
  }

  const doors: Doors = {
    database,
    engine,
    get now() {
      return now;
    },
    async pass(ms) {
      now += ms;
      await database.clock.stopAt(now);
    },
    token,
    introduce(who, given) {
      tokens.set(who, given);
    },
    async node(fields) {
      const [id] = await doors.nodes(1, fields);
      return id as string;
    },
    async nodes(count, { type = 'task', status = 'open', project = 'p1' } = {}) {
      const first = made + 1;
      made += count;
      const ids = Array.from({ length: count }, (_, index) => `n${String(first + index).padStart(5, '0')}`);
      await database.sql(
        `WITH made AS (INSERT INTO lease (tenant_id, node_id) SELECT $1, unnest($2::text[]))
         INSERT INTO work_node (tenant_id, node_id, type, status, project, created_at, updated_at)
         SELECT $1, unnest($2::text[]), $3, $4, $5, holdfast_now(), holdfast_now()`,
        ...[TENANT, ids, type, status, project],
      );
      return ids;
    },
    async policy(settings, project = '') {
      const columns = Object.keys(settings);
      await database.sql(
        `INSERT INTO policy (tenant_id, project, ${columns.join(', ')})
         VALUES ($1, $2, ${columns.map((_, index) => `$${index + 3}`).join(', ')})
         ON CONFLICT (tenant_id, project) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`,
        ...[TENANT, project, ...Object.values(settings)],
      );
    },
    fetch: async (request) => fetch(request),
    async rest(who, method, path, body) {
      const answer = await fetch(
        new Request(ORIGIN + path, {
          method,
          headers: {
            Authorization: `Bearer ${token(who)}`,
            ...(body !== undefined && { 'Content-Type': 'application/json' }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      );
      const told = { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) };
      (await asDocumented)({ method, path, ...told });
      return told;
    },
    async graphql(who, document, variables = {}) {
      const answer = await fetch(
        new Request(`${ORIGIN}/graphql`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${token(who)}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ query: document, variables }),
        }),
      );
      const { data, errors } = JSON.parse(await answer.text()) as { data?: Json; errors?: Json[] };
      return { status: answer.status, data, errors };
    },
    beforeNextWrite(action) {
      waiting = action;
    },
    async close() {
      await engine.stop();
      await clients.close();
      await database.drop();
    },
  };
  return doors;
}

/** The name that a person of the rig has. */
function nameOf(id: string): string {
  return id[0]?.toUpperCase() + id.slice(1);
}
