import { open, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { asUser, type Cluster } from './cluster.ts';
import { isAlive, type Postmaster, readPostmaster } from './postmaster-pid.ts';

/** A socket's path must fit the system's address structure. */
const LONGEST_SOCKET_PATH = 100;

/** Where a server listens. */
export type Address = Pick<Postmaster, 'port' | 'socketFolder'>;

/** A Unix socket in the cluster's folder, or a free port of this machine where that path is too long. */
export async function chooseAddress({ path }: Cluster): Promise<Address> {
  const fits = Buffer.byteLength(join(path, '.s.PGSQL.65535.lock')) <= LONGEST_SOCKET_PATH;
  return fits ? { port: 5432, socketFolder: path } : { port: await freePort(), socketFolder: null };
}

/** Starts the database, or adopts the one that runs already in this folder, whatever its address. */
export async function startPostmaster(cluster: Cluster, address: Address): Promise<Postmaster> {
  const { folder, path, binaries, user } = cluster;
  const logFile = join(folder, 'postgres.log');
  for (let attempt = 0; ; attempt += 1) {
    const left = await readPostmaster(path);
    if (left !== null && (await isAlive(left, path))) {
      if (left.ready) return left;
    } else {
      if (left !== null) await removeIfForeign(left, path);
      await ownedLog(logFile, cluster);
      const started = await asUser(user, binaries.pg_ctl, [
        ...['start', '-D', path, '-l', logFile, '-w', '-t', '60', '-s', '-o', listenOptions(address)],
      ]).catch((error: unknown) => error);
      const postmaster = await readPostmaster(path);
      if (postmaster?.ready) return postmaster;
      // The processes of a killed database may need a moment to go, and another start may be ahead of this one.
      if (attempt === 20) throw new Error(`the embedded database did not start: see ${logFile}`, { cause: started });
    }
    if (attempt > 600) throw new Error(`the embedded database in ${path} does not become ready`);
    await pause(100);
  }
}

/** Stops the database if it runs; what it had committed is on disk already. */
export async function stopPostmaster({ path, binaries, user }: Cluster): Promise<void> {
  try {
    await asUser(user, binaries.pg_ctl, ['stop', '-D', path, '-m', 'fast', '-w', '-t', '30']);
  } catch (error) {
    const left = await readPostmaster(path);
    if (left !== null && (await isAlive(left, path))) throw error;
  }
}

/**
 * Removes a pid file whose number another program has now, which PostgreSQL would take for itself. One of a process that
 * is gone is PostgreSQL's own to check: it looks whether processes of the dead server are still in its memory, and
 * another start may have replaced the file since it was read here.
 */
async function removeIfForeign({ pid }: Postmaster, path: string): Promise<void> {
  try {
    process.kill(pid, 0);
  } catch {
    return;
  }
  await rm(join(path, 'postmaster.pid'), { force: true });
}

async function ownedLog(file: string, { user }: Cluster): Promise<void> {
  const log = await open(file, 'a');
  if (user !== null) await log.chown(user.uid, user.gid);
  await log.close();
}

function listenOptions({ port, socketFolder }: Address): string {
  return socketFolder === null
    ? `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`
    : `-p ${port} -c listen_addresses= -k ${shellQuoted(socketFolder)}`;
}

const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer();
    server.once('error', failed);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => found(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
