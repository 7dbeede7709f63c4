import { join } from 'node:path';
import pg from 'pg';
import { checkAnswers, type LeaseRow } from './answered-changes.ts';
import { brokenInvariants } from './invariants.ts';
import { startTraffic, type Traffic } from './lease-traffic.ts';
import { startPostgres } from './postgres-server.ts';
import { createDice, seedOfThisRun } from './random.ts';
import { createRestClient, makePeople, makeTasks } from './rest-client.ts';
import { adminToken, createProcessRig, embeddedUrl, postmasterPid, type ServerProcess } from './server-process.ts';
import { until } from './until.ts';

/** A server under traffic on either kind of database, with the means to kill it or its database, and to look after. */
export interface KillRig {
  readonly server: ServerProcess;
  /** A whole number below this, from the seed of the run. */
  below(limit: number): number;
  startTraffic(): Promise<Traffic>;
  killServer(): Promise<void>;
  /** The same database and token; another port. */
  startServer(): Promise<void>;
  killDatabase(): Promise<void>;
  /** Brings the database back, or waits until the server has; then until the server is ready again. */
  databaseIsBack(): Promise<void>;
  /** Faults of the tables against the answers, and what the check could be certain of. */
  look(traffic: Traffic): Promise<Round>;
  close(): Promise<void>;
}

export interface Round {
  readonly faults: readonly string[];
  readonly answered: number;
  readonly leases: number;
  readonly ends: number;
}

export type DatabaseKind = 'the embedded database' | 'a PostgreSQL server';

const PEOPLE = Array.from({ length: 8 }, (_, index) => `person-${index}`);
const NODES = Array.from({ length: 40 }, (_, index) => `task-${index}`);
const CALLERS = 400;
const TOKEN = `hf_local_${'k'.repeat(43)}`;
const ROWS = `SELECT node_id, fence::text, holder, holdfast_ms(expires_at)::text AS expires FROM lease ORDER BY node_id`;

export async function createKillRig(kind: DatabaseKind): Promise<KillRig> {
  const rig = createProcessRig();
  const seed = seedOfThisRun();
  const dice = createDice(seed);
  const folder = await rig.folder();
  const dataDir = join(folder, 'data');
  const postgres = kind === 'a PostgreSQL server' ? await startPostgres(rig) : null;
  const environment =
    postgres === null ? { HOLDFAST_DATA_DIR: dataDir } : { DATABASE_URL: postgres.url, HOLDFAST_ADMIN_TOKEN: TOKEN };
  let server = await rig.serve(environment);
  const admin = postgres === null ? await adminToken(dataDir) : TOKEN;
  const tokens = await makePeople(server.url, admin, PEOPLE);
  await makeTasks(server.url, admin, NODES);
  const rows = async (): Promise<LeaseRow[]> => {
    return await withSql(postgres?.url ?? (await embeddedUrl(dataDir)), (sql) => sql<LeaseRow>(ROWS));
  };
  let [before, round] = [await rows(), 0];

  return {
    get server() {
      return server;
    },
    below: dice.below,
    async startTraffic() {
      before = await rows();
      round += 1;
      const file = join(folder, `answers-${round}.jsonl`);
      return startTraffic({ url: server.url, tokens, nodes: NODES, callers: CALLERS, dice, file });
    },
    async killServer() {
      server.signal('SIGKILL');
      await server.exited;
    },
    async startServer() {
      server = await rig.serve(environment);
    },
    async killDatabase() {
      if (postgres !== null) return await postgres.kill();
      process.kill((await postmasterPid(join(dataDir, 'postgres'))) as number, 'SIGKILL');
    },
    async databaseIsBack() {
      await postgres?.start();
      const probes = createRestClient(server.url, 1);
      const ready = async () => (await probes.call('', 'GET', '/readyz')).status === 200;
      await until('the server is ready again', ready, { say: server.output });
      probes.close();
    },
    async look(traffic) {
      const calls = traffic.calls();
      return await withSql(postgres?.url ?? (await embeddedUrl(dataDir)), async (sql) => {
        const { broken, certain } = checkAnswers(calls, before, await sql<LeaseRow>(ROWS));
        const invariants = await brokenInvariants({ sql });
        const faults = [
          ...broken,
          ...(await untoldGrants(calls, sql)),
          ...Object.entries(invariants).map(([rule, found]) => `${rule}: ${JSON.stringify(found)}`),
          ...traffic.wrong,
        ];
        const answered = calls.filter(({ answer }) => answer !== null).length;
        const context = faults.length === 0 ? [] : [`HOLDFAST_TEST_SEED=${seed}, round ${round}`, server.output()];
        return { faults: [...faults, ...context], answered, ...certain };
      });
    },
    close: rig.close,
  };
}

/** Every grant that was answered has its beginning in the history, by the same person. */
async function untoldGrants(calls: ReturnType<Traffic['calls']>, sql: Sql): Promise<string[]> {
  const rows = await sql<{ grant: string }>(
    `SELECT node_id || ' ' || fence || ' ' || holder AS grant FROM lease_event WHERE kind IN ('CLAIMED', 'RECLAIMED')`,
  );
  const begun = new Set(rows.map((row) => row.grant));
  const told = calls.flatMap(({ answer }) => answer?.leases ?? []);
  const grants = new Set(told.map(({ node_id, fence, by }) => `${node_id} ${fence} ${by}`));
  return [...grants].filter((grant) => !begun.has(grant)).map((grant) => `${grant} was answered and never begun`);
}

export type Sql = <Row extends object>(text: string, ...parameters: unknown[]) => Promise<Row[]>;

/** Looks into a database by a connection of its own. */
export async function withSql<T>(url: string, look: (sql: Sql) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await look(async <Row extends object>(text: string, ...parameters: unknown[]) => {
      const { rows } = await client.query<Row>(text, parameters);
      return rows;
    });
  } finally {
    await client.end();
  }
}
