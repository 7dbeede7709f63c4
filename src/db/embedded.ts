import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type Cluster, OWNER_ROLE, openCluster } from './cluster.ts';
import { isOutage } from './outage.ts';
import { type Address, chooseAddress, startPostmaster, stopPostmaster } from './postmaster.ts';

/**
 * The embedded database: a real PostgreSQL with its cluster in the data folder, for whoever has set no DATABASE_URL.
 *
 * One server owns a folder at a time: it holds an advisory lock on a connection of its own, which the database lets go
 * by itself when that server is gone, however it went. A database that a killed server left running is adopted. One
 * that dies under a running server is started again.
 *
 * It listens on a Unix socket in its own folder; on a free port of this machine where that path is too long.
 */
export interface EmbeddedDatabase {
  readonly url: string;
  /** The folder that is really used: another than asked for when the database's user can't reach that. */
  readonly folder: string;
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly folder: string;
  readonly log: { info(message: string): void; error(details: object, message: string): void };
}

const OWNER_LOCK = 4_653_511;

/** @throws when another server has the folder, or when the database does not start */
export async function startEmbedded({ folder: asked, log }: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const cluster = await openCluster(asked);
  let address = await chooseAddress(cluster);
  let stopping = false;
  let restart: Promise<void> = Promise.resolve();

  /** Starts the database where it does not run, and takes the folder for this server. @returns its maintenance URL */
  async function take(): Promise<string> {
    // Kept for the next start as well, because the pools go on using it.
    address = await startPostmaster(cluster, address);
    const url = urlOf(address, cluster);
    const owner = await own(url, cluster.folder);
    // Once: a dying database says so first, and then the connection breaks.
    owner.once('error', (err) => {
      if (stopping) return;
      log.error({ err }, 'the embedded database is gone; starting it again');
      restart = takeAgain();
    });
    return url;
  }

  /** A database that was killed a moment ago may still be found alive, and does not answer. */
  async function takeFirst(): Promise<string> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await take();
      } catch (error) {
        if (attempt === 20 || !isOutage(error)) throw error;
        await pause(100);
      }
    }
  }

  /** The owner's connection breaks when the database dies: start it again, until it runs or we stop. */
  async function takeAgain(): Promise<void> {
    for (let attempt = 0; !stopping; attempt += 1) {
      try {
        await take();
        return;
      } catch (err) {
        log.error({ err }, 'the embedded database did not start');
        await pause(Math.min(5_000, 100 * 2 ** attempt));
      }
    }
  }

  async function stop(): Promise<void> {
    stopping = true;
    // A start on its way would leave a database running behind us.
    await restart;
    await stopPostmaster(cluster);
  }

  const maintenanceUrl = await takeFirst();
  try {
    return { url: await createOwnDatabase(maintenanceUrl), folder: cluster.folder, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function urlOf({ port, socketFolder }: Address, { password }: Cluster): string {
  const url = new URL(`postgresql://${OWNER_ROLE}:${password}@127.0.0.1:${port}/postgres`);
  if (socketFolder !== null) url.searchParams.set('host', socketFolder);
  return url.href;
}

/** Takes the folder for this server. @throws when another server has it */
async function own(url: string, folder: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    application_name: 'holdfast-owner',
  });
  // A connection that breaks fails the statement as well, which is where it is taken note of.
  client.on('error', () => {});
  await client.connect();
  for (let attempt = 0; attempt < 30; attempt += 1) {
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [OWNER_LOCK]);
    if (rows[0]?.taken) return client;
    // A server that was just killed lets go when the database notices.
    await pause(100);
  }
  await client.end();
  throw new Error(
    `another server runs on the data folder ${folder}: stop it, or set HOLDFAST_DATA_DIR to another folder`,
  );
}

async function createOwnDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [OWNER_ROLE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${OWNER_ROLE}`);
  } finally {
    await client.end();
  }
  const own = new URL(url);
  own.pathname = `/${OWNER_ROLE}`;
  return own.href;
}
