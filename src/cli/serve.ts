import { type App, startApp } from '../app.ts';
import { readServerConfig } from '../config.ts';

/** `holdfast serve`: runs the server until it is told to stop. */
export async function runServe(out: NodeJS.WritableStream): Promise<number> {
  const config = readServerConfig();
  // From the first moment on, or a stop during the start would leave an embedded database running.
  const told = untilTold();
  const app = await startApp(config);
  if (app.adminToken !== null) tellToken(app, app.adminToken, out);
  out.write(`Holdfast is ready at ${app.url}${app.dataDir === null ? '' : `, with its data in ${app.dataDir}`}\n\n`);
  out.write(`Make a node and claim it:\n\n  ${curlLine(app)}\n\n`);
  await told;
  out.write('Stopping.\n');
  await app.stop();
  return 0;
}

/** Shows the first token, which nothing can show again. */
function tellToken({ tokenFile }: App, token: string, out: NodeJS.WritableStream): void {
  out.write(`The admin's token, shown this once: ${token}\n`);
  if (tokenFile !== null) out.write(`It is kept in ${tokenFile}\n`);
}

/** A line that works as it stands, on this start and on every later one. */
function curlLine({ url, tokenFile, adminToken }: App): string {
  const token = tokenFile !== null ? `$(cat ${shellQuoted(tokenFile)})` : (adminToken ?? '$HOLDFAST_ADMIN_TOKEN');
  const call = (path: string, body: string) =>
    `curl -s ${url}${path} -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" -d '${body}'`;
  const node = '{"nodes": [{"id": "task-hello", "type": "task", "title": "Say hello"}], "if_exists": "skip"}';
  return `${call('/v1/nodes', node)} && ${call('/v1/nodes/task-hello/claim', '{}')}`;
}

const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The first signal counts. A second must not kill what is stopping: npm sends on the Ctrl-C that the terminal sent too. */
function untilTold(): Promise<void> {
  return new Promise((told) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => told());
  });
}
