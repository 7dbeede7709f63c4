import { ConfigError, readClientConfig } from '../config.ts';

/** Picks the command. Each is loaded only when it is called, so that a client command starts without a server's weight. */
const USAGE = `Usage: holdfast <command>

  serve                      run the server
  migrate                    bring the database to this version
  import <folder | file>     put a graph of markdown nodes, or of JSON lines, into a running server

serve and migrate read DATABASE_URL or HOLDFAST_DATA_DIR; the other commands read HOLDFAST_URL and HOLDFAST_TOKEN.
`;

/** @returns the exit code: 0 done, 1 done in part, 2 not done */
export async function runCommand(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  const { stdout, stderr } = process;
  try {
    switch (command) {
      case 'serve':
        return await (await import('./serve.ts')).runServe(stdout);
      case 'migrate':
        return await (await import('./migrate.ts')).runMigrate(stdout);
      case 'import':
        return await (await import('./import.ts')).runImport(rest, { ...readClientConfig(), stdout, stderr });
      case 'help':
      case '--help':
      case '-h':
        stdout.write(USAGE);
        return 0;
      default:
        stderr.write(USAGE);
        return 2;
    }
  } catch (error) {
    stderr.write(`holdfast: ${reason(error)}\n`);
    return 2;
  }
}

/** What went wrong and what it came from; the stack is for faults of ours. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ConfigError) return error.message;
  // A host with several addresses fails with an error for each, and with no words of its own.
  if (error instanceof AggregateError) return error.errors.map(reason).join(', ');
  return error.cause instanceof Error ? `${error.message}: ${reason(error.cause)}` : error.message;
}
