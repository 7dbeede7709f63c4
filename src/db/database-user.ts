import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/**
 * Who runs the embedded database. PostgreSQL refuses to run as root, so root lends it to the system's database user,
 * which is made if there is none. Everyone else runs it as themselves.
 */
export interface DatabaseUser {
  readonly uid: number;
  readonly gid: number;
}

const run = promisify(execFile);
const NAME = 'postgres';

/** @returns null when this process may run PostgreSQL itself */
export async function databaseUser(): Promise<DatabaseUser | null> {
  if (process.getuid?.() !== 0) return null;
  const known = await lookUp();
  if (known !== null) return known;
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', NAME]);
  } catch (cause) {
    throw new Error(
      `PostgreSQL refuses to run as root, and the user ${NAME} could not be made: start as another user, or set DATABASE_URL`,
      { cause },
    );
  }
  const made = await lookUp();
  if (made === null) throw new Error(`the user ${NAME} was made and can't be found: start as another user`);
  return made;
}

async function lookUp(): Promise<DatabaseUser | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', NAME]), run('id', ['-g', NAME])]);
    return { uid: Number.parseInt(uid.stdout, 10), gid: Number.parseInt(gid.stdout, 10) };
  } catch {
    // `id` fails when there is no such user, which is the answer asked for.
    return null;
  }
}

/** Whether a user may pass through every folder above a path, as far as those exist. */
export async function canReach(path: string, user: DatabaseUser): Promise<boolean> {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const stats = await stat(folder).catch(() => null);
    if (stats !== null) {
      const bit = stats.uid === user.uid ? 0o100 : stats.gid === user.gid ? 0o010 : 0o001;
      if ((stats.mode & bit) === 0) return false;
    }
    if (folder === dirname(folder)) return true;
  }
}
