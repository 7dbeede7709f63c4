import { readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';

/** What a running PostgreSQL says of itself in its data folder. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  /** The folder of its Unix socket; null when it listens on a port only. */
  readonly socketFolder: string | null;
  readonly ready: boolean;
}

/** @returns null when no server runs there, or it has not yet written where it listens */
export async function readPostmaster(cluster: string): Promise<Postmaster | null> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const [pid, , , port, socketFolder, , , status] = text.split('\n');
  if (!pid || !port) return null;
  return {
    pid: Number(pid),
    port: Number(port),
    socketFolder: socketFolder || null,
    ready: status?.trim() === 'ready',
  };
}

/**
 * Whether the process of a pid file is still the PostgreSQL of that folder. A process number may have been given to
 * another program since; a PostgreSQL stands in its own data folder, and one that was killed and not yet cleared away
 * stands nowhere. Where the system doesn't tell, it is believed.
 */
export async function isAlive({ pid }: Postmaster, cluster: string): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  try {
    return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(cluster));
  } catch (error) {
    return process.platform !== 'linux' || (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}
