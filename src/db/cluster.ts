import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, cp, link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { canReach, type DatabaseUser, databaseUser } from './database-user.ts';
import { type Binaries, findBinaries } from './postgres-binaries.ts';

/** The files of an embedded database, the programs that run it, and who may run them. */
export interface Cluster {
  /** The folder that is really used: another than asked for when the database's user can't reach that. */
  readonly folder: string;
  /** PostgreSQL's own folder in it. */
  readonly path: string;
  readonly binaries: Binaries;
  readonly user: DatabaseUser | null;
  readonly password: string;
}

/** The role that owns everything in the cluster. */
export const OWNER_ROLE = 'holdfast';
const STATE_FOLDER = '/var/lib/holdfast';
const execute = promisify(execFile);

/**
 * Finds the cluster of a data folder, or makes it. Two starts may do so at once, and either may be killed half way:
 * each builds its own beside and moves it into place, which only the first can, so that a cluster is whole or absent.
 */
export async function openCluster(asked: string): Promise<Cluster> {
  const user = await databaseUser();
  const folder = await reachableFolder(resolve(asked), user);
  const binaries = await reachableBinaries(await findBinaries(), user);
  await mkdir(folder, { recursive: true, mode: user === null ? 0o700 : 0o755 });
  const password = await keepPassword(folder, user);
  const cluster = { folder, path: join(folder, 'postgres'), binaries, user, password };
  if (!(await isWhole(cluster.path))) await create(cluster);
  return cluster;
}

/** Runs one of PostgreSQL's programs as its user. pg_ctl makes the server a daemon of its own, outside our signals. */
export async function asUser(user: DatabaseUser | null, program: string, parameters: readonly string[]): Promise<void> {
  await execute(program, parameters, { cwd: '/', ...(user !== null && user) });
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
    const partial = `${copy}.${process.pid}`;
    await cp(native, partial, { recursive: true, verbatimSymlinks: true });
    await rename(partial, copy).catch(() => rm(partial, { recursive: true }));
  }
  const at = (program: string) => join(copy, 'bin', program);
  return { postgres: at('postgres'), initdb: at('initdb'), pg_ctl: at('pg_ctl') };
}

/** The database's password, made once for a folder; linked into place whole, so that two starts agree on one. */
async function keepPassword(folder: string, user: DatabaseUser | null): Promise<string> {
  const file = join(folder, 'database-password');
  if ((await stat(file).catch(() => null)) === null) {
    const partial = `${file}.${process.pid}`;
    await writeFile(partial, randomBytes(24).toString('base64url'), { mode: 0o600 });
    if (user !== null) await chown(partial, user.uid, user.gid);
    await link(partial, file).catch(unlessThere);
    await rm(partial);
  }
  return (await readFile(file, 'utf8')).trim();
}

async function create({ folder, path, binaries, user }: Cluster): Promise<void> {
  await removeAbandoned(folder);
  const partial = `${path}.${process.pid}`;
  await mkdir(partial, { mode: 0o700 });
  if (user !== null) await chown(partial, user.uid, user.gid);
  await asUser(user, binaries.initdb, [
    ...['-D', partial, '-U', OWNER_ROLE, '--auth=scram-sha-256', `--pwfile=${join(folder, 'database-password')}`],
    ...['--encoding=UTF8', '--locale=C', '--no-instructions'],
  ]);
  await rename(partial, path).catch(unlessThere);
  await rm(partial, { recursive: true, force: true });
  if (!(await isWhole(path))) throw new Error(`${path} is there and is no database: move it away, then start again`);
}

/** What starts left that were killed while they made a cluster. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = /^postgres\.(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(folder, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return pid !== process.pid && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function isWhole(path: string): Promise<boolean> {
  return (await stat(join(path, 'PG_VERSION')).catch(() => null)) !== null;
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error;
}
