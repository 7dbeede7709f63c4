import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

/** A database of its own, cloned from the migrated template, with a clock that a test may set. */
export interface TestDatabase {
  readonly url: string;
  /** Any SQL, for arranging rows and for looking at them. */
  sql<Row extends object = Record<string, unknown>>(text: string, ...parameters: unknown[]): Promise<Row[]>;
  readonly clock: TestClock;
  drop(): Promise<void>;
}

/** The database's clock, behind `holdfast_now()`. Shifts verbs, reads and sweeps together. */
export interface TestClock {
  /** Stands still at this instant, epoch ms. */
  stopAt(ms: number): Promise<void>;
  /** Runs, this much ahead of the machine's. */
  runAhead(ms: number): Promise<void>;
  now(): Promise<number>;
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('serverUrl');
  const name = `holdfast_test_${randomBytes(6).toString('hex')}`;
  await onServer(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${inject('template')}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return lookInto(url.href, () => onServer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`));
}

/** A migrated database that is there already. @param drop what else is to be done with it at the end */
export function lookInto(url: string, drop = async () => {}): TestDatabase {
  const pool = new pg.Pool({ connectionString: url, max: 2, allowExitOnIdle: true });
  pool.on('error', () => {});

  async function sql<Row extends object>(text: string, ...parameters: unknown[]): Promise<Row[]> {
    const { rows } = await pool.query<Row>(text, parameters);
    return rows;
  }
  async function replaceClock(expression: string): Promise<void> {
    await sql(`CREATE OR REPLACE FUNCTION holdfast_now() RETURNS timestamptz LANGUAGE sql VOLATILE
               AS $$ SELECT date_trunc('milliseconds', ${expression}) $$`);
  }
  return {
    url,
    sql,
    clock: {
      stopAt: (ms) => replaceClock(`holdfast_at(${Math.trunc(ms)})`),
      runAhead: (ms) => replaceClock(`clock_timestamp() + ${Math.trunc(ms)} * interval '1 millisecond'`),
      async now() {
        const [row] = await sql<{ now: string }>('SELECT holdfast_ms(holdfast_now()) AS now');
        return Number(row?.now);
      },
    },
    async drop() {
      await pool.end();
      await drop();
    },
  };
}

async function onServer(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
