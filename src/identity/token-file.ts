import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where the first admin's token is kept for whoever runs the server, beside an embedded database. */
export function tokenFile(dataDir: string): string {
  return join(dataDir, 'admin-token');
}

export async function keepToken(file: string, token: string): Promise<void> {
  await writeFile(file, `${token}\n`, { mode: 0o600 });
  // The mode above is for a new file only.
  await chmod(file, 0o600);
}
