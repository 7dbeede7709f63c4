import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

/**
 * Applies the plain SQL of prisma/migrations, in order, each in a transaction of its own. Keeps the table that Prisma's
 * own `migrate deploy` keeps, so that either may be used. Several replicas may start at once: one migrates, the others
 * wait for it and find nothing left to do.
 */
const FOLDER = fileURLToPath(new URL('../../prisma/migrations/', import.meta.url));

/** The lock that Prisma takes for the same purpose. */
const MIGRATION_LOCK = 72_707_369;

const LEDGER = `
CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id                  varchar(36) PRIMARY KEY,
  checksum            varchar(64) NOT NULL,
  finished_at         timestamptz,
  migration_name      varchar(255) NOT NULL,
  logs                text,
  rolled_back_at      timestamptz,
  started_at          timestamptz NOT NULL DEFAULT now(),
  applied_steps_count integer NOT NULL DEFAULT 0
)`;

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/**
 * @returns the names of the migrations that were applied now
 * @throws when the database can't be reached, an applied migration differs from its file, or the database has one that
 *   this version does not know
 */
export async function migrate(url: string): Promise<readonly string[]> {
  const migrations = await readMigrations();
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, lock_timeout: 60_000 });
  await client.connect().catch((cause: unknown) => {
    throw new Error(`the database at ${client.host}:${client.port} can't be used`, { cause });
  });
  try {
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await client.query(LEDGER);
    const { rows } = await client.query<{ migration_name: string; checksum: string; finished_at: Date | null }>(
      'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL',
    );
    const applied = new Map(rows.map((row) => [row.migration_name, row]));
    for (const { migration_name: name } of rows) {
      if (!migrations.some((migration) => migration.name === name)) {
        throw new Error(`the database has migration ${name}, which this version does not know: start a newer version`);
      }
    }
    const pending: string[] = [];
    for (const migration of migrations) {
      const row = applied.get(migration.name);
      if (row === undefined) {
        await apply(client, migration);
        pending.push(migration.name);
      } else if (row.finished_at === null) {
        throw new Error(
          `migration ${migration.name} was begun and not finished: restore the database, then start again`,
        );
      } else if (row.checksum !== migration.checksum) {
        throw new Error(`migration ${migration.name} was changed after it was applied: restore its file`);
      }
    }
    return pending;
  } finally {
    await client.end();
  }
}

async function readMigrations(): Promise<readonly Migration[]> {
  const entries = await readdir(FOLDER, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(`${FOLDER}${name}/migration.sql`, 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** The script is sent whole: splitting at semicolons would break function bodies. */
async function apply(client: pg.Client, { name, sql, checksum }: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(sql);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), 1)`,
      [randomUUID(), checksum, name],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw new Error(`migration ${name} failed and was rolled back`, { cause: error });
  }
}
