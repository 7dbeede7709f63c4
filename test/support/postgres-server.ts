import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { asUser, openCluster } from '../../src/db/cluster.ts';
import { freePort, startPostmaster } from '../../src/db/postmaster.ts';
import { type ProcessRig, postmasterPid } from './server-process.ts';
import { until } from './until.ts';

/** A PostgreSQL server on a port, as DATABASE_URL names one, that a test may kill and start again. */
export interface PostgresServer {
  /** An empty database of it. */
  readonly url: string;
  /** What it has written so far. */
  log(): Promise<string>;
  kill(): Promise<void>;
  /** Fast: every session is told to end first. Immediate: they are all gone at once. */
  stop(mode: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
}

export async function startPostgres(rig: ProcessRig): Promise<PostgresServer> {
  const cluster = await openCluster(await rig.folder());
  const port = await freePort();
  const address = { port, socketFolder: null };
  await startPostmaster(cluster, address);
  const url = new URL(`postgresql://holdfast:${cluster.password}@127.0.0.1:${port}/postgres`);
  await onServer(url.href, 'CREATE DATABASE holdfast');
  url.pathname = '/holdfast';
  return {
    url: url.href,
    log: () => readFile(join(cluster.folder, 'postgres.log'), 'utf8'),
    async kill() {
      const pid = await postmasterPid(cluster.path);
      if (pid === null) throw new Error('there is no database to kill');
      process.kill(pid, 'SIGKILL');
      await until('the database is gone', async () => (await postmasterPid(cluster.path)) === null);
    },
    stop: (mode) => asUser(cluster.user, cluster.binaries.pg_ctl, ['stop', '-D', cluster.path, '-m', mode, '-w']),
    async start() {
      await startPostmaster(cluster, address);
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
