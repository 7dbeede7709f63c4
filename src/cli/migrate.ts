import { readServerConfig } from '../config.ts';
import { startEmbedded } from '../db/embedded.ts';
import { migrate } from '../db/migrate.ts';

/** `holdfast migrate`: brings the database to this version, and stops. `serve` does the same when it starts. */
export async function runMigrate(out: NodeJS.WritableStream): Promise<number> {
  const { databaseUrl, dataDir } = readServerConfig();
  const log = { info() {}, error: (_details: object, message: string) => void out.write(`${message}\n`) };
  const embedded = databaseUrl === null ? await startEmbedded({ folder: dataDir, log }) : null;
  try {
    const applied = await migrate(databaseUrl ?? embedded?.url ?? '');
    out.write(applied.length === 0 ? 'The database is up to date.\n' : `Applied ${applied.join(', ')}.\n`);
  } finally {
    await embedded?.stop();
  }
  return 0;
}
