import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, validate } from 'graphql';
import { ModuleKind, ScriptTarget, transpileModule } from 'typescript';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { schema } from '../../src/graphql/schema.ts';
import { createLiveRig, type LiveRig } from '../support/live-rig.ts';
import { until } from '../support/until.ts';

/** The loops of docs/subscriptions.md do what the page says. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const page = await readFile(join(ROOT, 'docs/subscriptions.md'), 'utf8');
const blocks = (kind: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text = '']) => text);

let rig: LiveRig;
const folders: string[] = [];
const children: ChildProcess[] = [];
beforeAll(async () => {
  rig = await createLiveRig(1);
});
afterEach(async () => {
  for (const { pid } of children.splice(0)) {
    try {
      // The shell and what it started.
      process.kill(-(pid as number), 'SIGKILL');
    } catch {
      // Over already.
    }
  }
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});
afterAll(() => rig.close());

const url = () => rig.apps[0]?.url as string;
const act = async (who: string, id: string, verb: string, body: object = {}) =>
  expect(await rig.doors.rest(who, 'POST', `/v1/nodes/${id}/${verb}`, body)).toMatchObject({ status: 200 });

async function folderIn(parent: string): Promise<string> {
  const folder = await mkdtemp(join(parent, 'holdfast-docs-'));
  folders.push(folder);
  return folder;
}

/** Runs a program, with all that it says. */
function run(program: string, args: string[], cwd: string, env?: Record<string, string>) {
  const child = spawn(program, args, { cwd, detached: true, ...(env && { env }) });
  children.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
  });
  return { text: () => text, exited };
}

describe('the examples', () => {
  it('have a subscription of every kind, each good by the schema', () => {
    const documents = blocks('graphql');
    for (const name of ['leaseEvents', 'leaseLost', 'leaseExpiring', 'leaseBoard']) {
      expect(documents.some((text) => text.includes(`${name}(`))).toBe(true);
    }
    expect(documents.flatMap((text) => validate(schema, parse(text)).map(String))).toEqual([]);
  });

  it("the agent's loop claims, heartbeats, and ends when its lease is lost", async () => {
    const id = await rig.doors.node();
    // So short that the loop has to send heartbeats.
    await rig.doors.policy({ claim_ttl_ms: 2_000 }, 'p1');
    const [text = ''] = blocks('ts');
    const compilerOptions = { module: ModuleKind.ESNext, target: ScriptTarget.ES2022 };
    const folder = await folderIn(join(ROOT, 'node_modules'));
    const file = join(folder, 'agent.mjs');
    await writeFile(file, transpileModule(text, { compilerOptions }).outputText);
    const agent = run(process.execPath, [file, id, 'run-1'], folder, {
      HOLDFAST_URL: url(),
      HOLDFAST_TOKEN: rig.doors.token('ana'),
    });
    await until('the agent has claimed', () => agent.text().includes('claimed with fence 1'), { say: agent.text });
    const end = async () => (await rig.doors.rest('ana', 'GET', `/v1/nodes/${id}`)).body.lease?.expires as number;
    const first = await end();
    await until('a heartbeat has moved the end', async () => (await end()) > first, { say: agent.text });
    await act('admin', id, 'break', { reason: 'Its run is gone.' });
    expect(await agent.exited).toBe(0);
    expect(agent.text()).toContain('lost: BROKEN');
    await rig.doors.policy({ claim_ttl_ms: null }, 'p1');
  });

  it('the loop with curl prints what happens, and goes on where it was', async () => {
    const id = await rig.doors.node();
    const folder = await folderIn(tmpdir());
    const [, loop = ''] = blocks('sh');
    const setting = `API='${url()}'\nAUTH='Authorization: Bearer ${rig.doors.token('ana')}'\n`;
    const follow = () => run('sh', ['-c', setting + loop], folder);
    const place = async () => (await readFile(join(folder, 'last'), 'utf8').catch(() => '')).trim();
    const first = follow();
    await until('the loop has its place', async () => (await place()) !== '', { say: first.text });
    await act('ana', id, 'claim');
    await until('the claim is printed', () => first.text().includes('"kind":"CLAIMED"'), { say: first.text });
    const { latest_seq: latest } = (await rig.doors.rest('ana', 'GET', '/v1/events?limit=1')).body;
    await until('the claim is noted', async () => (await place()) === latest, { say: first.text });
    process.kill(-(children[0]?.pid as number), 'SIGKILL');
    await first.exited;
    await act('ana', id, 'release');
    const second = follow();
    await until('the release is printed', () => second.text().includes('"kind":"RELEASED"'), { say: second.text });
    expect(second.text().match(/"kind":/g)).toHaveLength(1);
  });
});
