import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type App, startApp } from '../app.ts';
import { readServerConfig } from '../config.ts';

/** `holdfast serve`: runs the server until it is told to stop. */
export async function runServe(out: NodeJS.WritableStream): Promise<number> {
  const config = readServerConfig();
  const app = await startApp(config);
  if (app.adminToken !== null) await tellToken(app, app.adminToken, out);
  out.write(`Holdfast is ready at ${app.url}${app.dataDir === null ? '' : `, with its data in ${app.dataDir}`}\n\n`);
  out.write(`Make a node and claim it:\n\n  ${curlLine(app)}\n\n`);
  await untilTold();
  out.write('Stopping.\n');
  await app.stop();
  return 0;
}

const tokenFile = (dataDir: string): string => join(dataDir, 'admin-token');

/** Shows the first token, which nothing can show again. */
async function tellToken({ dataDir }: App, token: string, out: NodeJS.WritableStream): Promise<void> {
  out.write(`The admin's token, shown this once: ${token}\n`);
  if (dataDir === null) return;
  await writeFile(tokenFile(dataDir), `${token}\n`, { mode: 0o600 });
  out.write(`It is kept in ${tokenFile(dataDir)}\n`);
}

/** A line that works as it stands, on this start and on every later one. */
function curlLine({ url, dataDir, adminToken }: App): string {
  const token = dataDir !== null ? `$(cat '${tokenFile(dataDir)}')` : (adminToken ?? '$HOLDFAST_ADMIN_TOKEN');
  const call = (path: string, body: string) =>
    `curl -s ${url}${path} -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" -d '${body}'`;
  const node = '{"nodes": [{"id": "task-hello", "type": "task", "title": "Say hello"}], "if_exists": "skip"}';
  return `${call('/v1/nodes', node)} && ${call('/v1/nodes/task-hello/claim', '{}')}`;
}

function untilTold(): Promise<void> {
  return new Promise((told) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => told());
  });
}
