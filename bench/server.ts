import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import WebSocket from 'ws';

/** The built server in a process of its own, and the calls that a measurement makes. */
export interface BenchServer {
  readonly database: string;
  /** @throws on an answer that is not 2xx */
  // biome-ignore lint/suspicious/noExplicitAny: whatever JSON the server sent.
  call(path: string, body: object): Promise<any>;
  /** @throws on errors */
  // biome-ignore lint/suspicious/noExplicitAny: whatever JSON the server sent.
  graphql(query: string, variables?: object): Promise<any>;
  /** Open tasks of a project. */
  addTasks(project: string, count: number): Promise<string[]>;
  /** Opens a socket and subscribes; resolves when the first message is there. */
  subscribe(query: string, onMessage: (message: string) => void): Promise<WebSocket>;
  /** How far the database's clock is ahead of ours, ms: from the quickest of some calls. */
  clockAheadMs(): Promise<number>;
  stop(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const LONGEST_LIST = 1_000;

export async function startServer(): Promise<BenchServer> {
  const given = process.env.DATABASE_URL;
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bench-'));
  // The database's own user looks into it.
  await chmod(folder, 0o755);
  const ownToken = `hf_local_${randomBytes(32).toString('hex')}`;
  const settings = given === undefined ? { HOLDFAST_DATA_DIR: folder } : { HOLDFAST_ADMIN_TOKEN: ownToken };
  const child = spawn(process.execPath, [PROGRAM, 'serve'], {
    env: { ...process.env, PORT: '0', HOLDFAST_LOG_LEVEL: 'error', ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await ready(child);
  const token = given === undefined ? (await readFile(join(folder, 'admin-token'), 'utf8')).trim() : ownToken;
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<WebSocket>();

  function call(path: string, body: object) {
    return post(agent, `${url}${path}`, token, JSON.stringify(body));
  }
  async function graphql(query: string, variables: object = {}) {
    const { data, errors } = await call('/graphql', { query, variables });
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    return data;
  }
  return {
    database: given === undefined ? 'embedded PostgreSQL' : 'PostgreSQL of DATABASE_URL',
    call,
    graphql,
    async addTasks(project, count) {
      const run = randomBytes(3).toString('hex');
      const ids = Array.from({ length: count }, (_, index) => `${project}-${run}-${index}`);
      for (let start = 0; start < count; start += LONGEST_LIST) {
        const nodes = ids.slice(start, start + LONGEST_LIST);
        await call('/v1/nodes', {
          nodes: nodes.map((id) => ({ id, type: 'task', title: id, status: 'open', project })),
        });
      }
      return ids;
    },
    async subscribe(query, onMessage) {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      sockets.add(socket);
      await once(socket, 'open');
      const first = new Promise<void>((resolve) => {
        socket.on('message', (data) => {
          const text = String(data);
          if (text.includes('"connection_ack"')) {
            socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
          } else if (text.includes('"next"')) {
            onMessage(text);
            resolve();
          }
        });
      });
      socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }));
      await first;
      return socket;
    },
    async clockAheadMs() {
      let [quickest, ahead] = [Number.POSITIVE_INFINITY, 0];
      for (let attempt = 0; attempt < 20; attempt += 1) {
        const sent = exactNow();
        const { serverTime } = await graphql('{ serverTime }');
        const got = exactNow();
        if (got - sent < quickest) [quickest, ahead] = [got - sent, Date.parse(serverTime) - (sent + got) / 2];
      }
      // The database tells whole milliseconds, cut off.
      return ahead + 0.5;
    },
    async stop() {
      for (const socket of sockets) socket.terminate();
      agent.destroy();
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Epoch ms with fractions. */
export function exactNow(): number {
  return performance.timeOrigin + performance.now();
}

async function ready(child: ChildProcess): Promise<string> {
  let output = '';
  for await (const part of child.stdout?.setEncoding('utf8').iterator({ destroyOnReturn: false }) ?? []) {
    output += part;
    const url = /Holdfast is ready at (http:\/\/[^\s,]+)/.exec(output)?.[1];
    if (url === undefined) continue;
    child.stdout?.resume();
    return url;
  }
  throw new Error(`The server did not start: ${output}`);
}

// biome-ignore lint/suspicious/noExplicitAny: whatever JSON the server sent.
function post(agent: Agent, url: string, token: string, body: string): Promise<any> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const sent = request(url, { agent, method: 'POST', headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => {
        if ((answer.statusCode ?? 500) < 300) resolve(JSON.parse(text));
        else reject(new Error(`${answer.statusCode} ${text.slice(0, 500)}`));
      });
    });
    sent.on('error', reject).end(body);
  });
}
