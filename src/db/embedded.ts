import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, cp, mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { canReach, type DatabaseUser, databaseUser } from './database-user.ts';
import { type Binaries, findBinaries } from './postgres-binaries.ts';
import { isAlive, type Postmaster, readPostmaster } from './postmaster-pid.ts';

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

const USER = 'holdfast';
/** A socket's path must fit the system's address structure. */
const LONGEST_SOCKET_PATH = 100;
const STATE_FOLDER = '/var/lib/holdfast';
const OWNER_LOCK = 4_653_511;

const execute = promisify(execFile);

export async function startEmbedded({ folder: asked, log }: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const user = await databaseUser();
  const folder = await reachableFolder(resolve(asked), user);
  const binaries = await reachableBinaries(await findBinaries(), user);
  const cluster = join(folder, 'postgres');
  await createCluster({ folder, cluster, binaries, user });
  const password = (await readFile(join(folder, 'database-password'), 'utf8')).trim();
  const start = () => startPostmaster({ folder, cluster, binaries, user });

  let stopping = false;
  let owner = await own(addressOf(await start(), password), folder);
  const url = await createOwnDatabase(addressOf(await running(cluster), password));
  owner.on('error', watch);

  /** The owner's connection breaks when the database dies: start it again, until it runs or we stop. */
  async function watch(error: Error): Promise<void> {
    for (let attempt = 0; !stopping; attempt += 1) {
      log.error({ err: error }, 'the embedded database is gone; starting it again');
      try {
        owner = await own(addressOf(await start(), password), folder);
        owner.on('error', watch);
        return;
      } catch (err) {
        log.error({ err }, 'the embedded database did not start');
        await pause(Math.min(5_000, 100 * 2 ** attempt));
      }
    }
  }

  return {
    url,
    folder,
    async stop() {
      stopping = true;
      owner.removeListener('error', watch);
      owner.on('error', () => {});
      await asUser(user, binaries.pg_ctl, ['stop', '-D', cluster, '-m', 'fast', '-w', '-t', '30']);
    },
  };
}

interface Place {
  readonly folder: string;
  readonly cluster: string;
  readonly binaries: Binaries;
  readonly user: DatabaseUser | null;
}

/** The folder asked for, or one of the system's where the database's user can't reach it. */
async function reachableFolder(folder: string, user: DatabaseUser | null): Promise<string> {
  if (user === null || (await canReach(join(folder, 'postgres'), user))) return folder;
  return join(STATE_FOLDER, folder.replaceAll('/', '-').replace(/^-/, ''));
}

/** The programs where they are, or a copy where the database's user can't run them there. */
async function reachableBinaries(binaries: Binaries, user: DatabaseUser | null): Promise<Binaries> {
  if (user === null || (await canReach(binaries.postgres, user))) return binaries;
  const native = resolve(binaries.postgres, '../..');
  const { mtimeMs } = await stat(binaries.postgres);
  const copy = join(STATE_FOLDER, `programs-${Math.floor(mtimeMs)}`);
  await mkdir(STATE_FOLDER, { recursive: true, mode: 0o755 });
  // Copied beside and moved into place, so that a copy is whole or absent.
  if ((await stat(copy).catch(() => null)) === null) {
    const { rename } = await import('node:fs/promises');
    const partial = `${copy}.${process.pid}`;
    await cp(native, partial, { recursive: true, verbatimSymlinks: true });
    await rename(partial, copy).catch(() => rm(partial, { recursive: true }));
  }
  const at = (program: string) => join(copy, 'bin', program);
  return { postgres: at('postgres'), initdb: at('initdb'), pg_ctl: at('pg_ctl') };
}

async function createCluster({ folder, cluster, binaries, user }: Place): Promise<void> {
  await mkdir(folder, { recursive: true, mode: user === null ? 0o700 : 0o755 });
  if ((await stat(join(cluster, 'PG_VERSION')).catch(() => null)) !== null) return;
  // A start that was killed half way leaves a cluster without its version file; initdb wants an empty folder.
  await rm(cluster, { recursive: true, force: true });
  await mkdir(cluster, { mode: 0o700 });
  const passwordFile = join(folder, 'database-password');
  await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
  if (user !== null) {
    await chown(cluster, user.uid, user.gid);
    await chown(passwordFile, user.uid, user.gid);
  }
  const partial = join(cluster, 'new');
  await mkdir(partial, { mode: 0o700 });
  if (user !== null) await chown(partial, user.uid, user.gid);
  await asUser(user, binaries.initdb, [
    ...['-D', partial, '-U', USER, '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
    ...['--encoding=UTF8', '--locale=C', '--no-instructions'],
  ]);
  await moveUp(partial, cluster);
}

/** Moves a finished cluster into its place; the version file last, because it is what says that it is whole. */
async function moveUp(from: string, to: string): Promise<void> {
  const { readdir, rename, rmdir } = await import('node:fs/promises');
  const names = await readdir(from);
  for (const name of names.filter((entry) => entry !== 'PG_VERSION')) await rename(join(from, name), join(to, name));
  await rename(join(from, 'PG_VERSION'), join(to, 'PG_VERSION'));
  await rmdir(from);
}

/** Starts the database, or adopts the one that runs already in this folder. */
async function startPostmaster(place: Place): Promise<Postmaster> {
  const { folder, cluster, binaries, user } = place;
  for (let attempt = 0; ; attempt += 1) {
    const left = await readPostmaster(cluster);
    if (left !== null && (await isAlive(left, cluster))) {
      if (left.ready) return left;
    } else {
      if (left !== null) await rm(join(cluster, 'postmaster.pid'), { force: true });
      const logFile = join(folder, 'postgres.log');
      const log = await open(logFile, 'a');
      if (user !== null) await log.chown(user.uid, user.gid);
      await log.close();
      const started = await asUser(user, binaries.pg_ctl, [
        ...['start', '-D', cluster, '-l', logFile, '-w', '-t', '60', '-s', '-o', await listenOptions(cluster)],
      ]).catch((error: unknown) => error);
      const postmaster = await readPostmaster(cluster);
      if (postmaster?.ready) return postmaster;
      // The processes of a killed database may need a moment to go, and another start may be ahead of this one.
      if (attempt === 20) throw new Error(`the embedded database did not start: see ${logFile}`, { cause: started });
    }
    if (attempt > 600) throw new Error(`the embedded database in ${cluster} does not become ready`);
    await pause(100);
  }
}

async function listenOptions(cluster: string): Promise<string> {
  const socket = join(cluster, '.s.PGSQL.65535.lock');
  if (Buffer.byteLength(socket) <= LONGEST_SOCKET_PATH) return `-c listen_addresses= -k ${shellQuoted(cluster)}`;
  return `-c listen_addresses=127.0.0.1 -c unix_socket_directories= -p ${await freePort()}`;
}

const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer();
    server.once('error', failed);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => found(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function running(cluster: string): Promise<Postmaster> {
  const postmaster = await readPostmaster(cluster);
  if (postmaster === null) throw new Error(`the embedded database in ${cluster} stopped while it was being prepared`);
  return postmaster;
}

function addressOf({ port, socketFolder }: Postmaster, password: string, database = 'postgres'): string {
  const url = new URL(`postgresql://${USER}:${password}@127.0.0.1:${port}/${database}`);
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
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [USER]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${USER}`);
  } finally {
    await client.end();
  }
  const own = new URL(url);
  own.pathname = `/${USER}`;
  return own.href;
}

/** Runs one of PostgreSQL's programs as its user. pg_ctl makes the server a daemon of its own, outside our signals. */
async function asUser(user: DatabaseUser | null, program: string, parameters: readonly string[]): Promise<void> {
  await execute(program, parameters, { cwd: '/', ...(user !== null && user) });
}
