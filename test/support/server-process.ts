import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAlive, readPostmaster } from '../../src/db/postmaster-pid.ts';
import { until } from './until.ts';

/**
 * The built program in processes of its own, in folders of its own. Whatever a test leaves, `close` takes away, by the
 * numbers of the processes and by the pid files in the folders, never by name.
 */
export interface ProcessRig {
  /** A folder that the database's user can reach, gone at the end. */
  folder(): Promise<string>;
  /** Any command of the program. */
  run(args: readonly string[], environment?: Environment): Running;
  /** Another program, with the same environment. */
  runProgram(program: string, args: readonly string[], environment?: Environment): Running;
  /** A server, once it is ready. */
  serve(environment?: Environment): Promise<ServerProcess>;
  /** Remembers what is to be done at the end. */
  defer(undo: () => Promise<unknown>): void;
  close(): Promise<void>;
}

export type Environment = Readonly<Record<string, string>>;

export interface Running {
  readonly pid: number;
  /** What it has written so far, standard error included. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** How it ended. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

export interface ServerProcess extends Running {
  readonly url: string;
}

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAM = join(ROOT, 'dist/main.js');

export function createProcessRig(): ProcessRig {
  const undo: (() => Promise<unknown>)[] = [];

  function runProgram(program: string, args: readonly string[], environment: Environment = {}): Running {
    // A group of its own, so that what it starts in turn can be ended with it.
    const options = { cwd: ROOT, env: cleanEnvironment(environment), stdio: 'pipe', detached: true } as const;
    const child = spawn(program, args, options);
    undo.push(() => end(child));
    return watch(child);
  }

  function run(args: readonly string[], environment: Environment = {}): Running {
    if (!existsSync(PROGRAM)) throw new Error('dist is not built: npm run build, or npm test, which does so');
    return runProgram(process.execPath, [PROGRAM, ...args], environment);
  }

  return {
    run,
    runProgram,
    async folder() {
      const folder = await mkdtemp(join(tmpdir(), 'holdfast-process-'));
      await chmod(folder, 0o755);
      undo.push(() => removeFolder(folder));
      return folder;
    },
    async serve(environment = {}) {
      const running = run(['serve'], environment);
      return { ...running, url: await readyUrl(running) };
    },
    defer: (action) => void undo.push(action),
    async close() {
      for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
    },
  };
}

/** Where a server says it is ready. @throws with what it wrote when it ends instead */
export async function readyUrl(running: Running): Promise<string> {
  let ended = false;
  void running.exited.then(() => {
    ended = true;
  });
  await until('the server is ready', () => ended || /Holdfast is ready at/.test(running.output()), {
    limitMs: 40_000,
    say: running.output,
  });
  const url = /Holdfast is ready at (http:\/\/[^\s,]+)/.exec(running.output())?.[1];
  if (url === undefined) throw new Error(`the server ended before it was ready:\n${running.output()}`);
  return url;
}

/** The admin's token that a first start left in its data folder. */
export async function adminToken(dataDir: string): Promise<string> {
  return (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim();
}

/** The embedded database of a data folder, for a test that looks behind the server. */
export async function embeddedUrl(dataDir: string): Promise<string> {
  const postmaster = await readPostmaster(join(dataDir, 'postgres'));
  if (postmaster === null) throw new Error(`no database runs in ${dataDir}`);
  const password = (await readFile(join(dataDir, 'database-password'), 'utf8')).trim();
  const url = new URL(`postgresql://holdfast:${password}@127.0.0.1:${postmaster.port}/holdfast`);
  if (postmaster.socketFolder !== null) url.searchParams.set('host', postmaster.socketFolder);
  return url.href;
}

/** The process number of the database in a cluster, null when none runs there. */
export async function postmasterPid(cluster: string): Promise<number | null> {
  const postmaster = await readPostmaster(cluster);
  return postmaster !== null && (await isAlive(postmaster, cluster)) ? postmaster.pid : null;
}

function watch(child: ChildProcess): Running {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  return { pid: child.pid ?? 0, output: () => output, signal: (name) => void child.kill(name), exited };
}

async function end(child: ChildProcess): Promise<void> {
  const ended = child.exitCode !== null || child.signalCode !== null;
  const gone = ended ? undefined : once(child, 'exit');
  try {
    process.kill(-(child.pid as number), 'SIGKILL');
  } catch {
    // Nothing of the group is left.
  }
  await gone;
}

/** Ends the databases of a folder, wherever in it they are, and removes it. */
export async function removeFolder(folder: string): Promise<void> {
  const files = await readdir(folder, { recursive: true });
  const clusters = files
    .filter((path) => basename(path) === 'postmaster.pid')
    .map((path) => join(folder, dirname(path)));
  for (const cluster of clusters) await endDatabase(cluster);
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Ends a database that a killed server left running. */
async function endDatabase(cluster: string): Promise<void> {
  const pid = await postmasterPid(cluster);
  if (pid === null) return;
  // SIGQUIT: the children go at once, and nothing is written that is thrown away next.
  process.kill(pid, 'SIGQUIT');
  await until(`the database ${pid} is gone`, async () => (await postmasterPid(cluster)) === null);
}

/** The environment without what steers a server, so that a developer's settings do not reach the tests. */
function cleanEnvironment(more: Environment): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(HOLDFAST_|DATABASE_URL$|HOST$|PORT$)/.test(name));
  return { ...Object.fromEntries(kept), PORT: '0', HOLDFAST_LOG_LEVEL: 'error', ...more };
}
