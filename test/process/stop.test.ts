import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTraffic } from '../support/lease-traffic.ts';
import { createDice, seedOfThisRun } from '../support/random.ts';
import { makePeople, makeTasks } from '../support/rest-client.ts';
import { adminToken, createProcessRig, type ProcessRig, postmasterPid, readyUrl } from '../support/server-process.ts';
import { until } from '../support/until.ts';

/** A server that is told to stop answers what it has, and leaves nothing running. */
let rig: ProcessRig;
let folder: string;
let dataDir: string;

beforeEach(async () => {
  rig = createProcessRig();
  folder = await rig.folder();
  dataDir = join(folder, 'data');
});
afterEach(() => rig.close());

const PEOPLE = ['ana', 'bo', 'cleo'];
const NODES = Array.from({ length: 30 }, (_, index) => `task-${index}`);
const databasePid = () => postmasterPid(join(dataDir, 'postgres'));

it('answers every call it was sent under load at SIGTERM, and ends with 0 and without its database', async () => {
  const server = await rig.serve({ HOLDFAST_DATA_DIR: dataDir, HOLDFAST_STOP_TIMEOUT: '10s' });
  const admin = await adminToken(dataDir);
  const tokens = await makePeople(server.url, admin, PEOPLE);
  await makeTasks(server.url, admin, NODES);
  const file = join(folder, 'answers.jsonl');
  const dice = createDice(seedOfThisRun());
  const traffic = startTraffic({ url: server.url, tokens, nodes: NODES, callers: 250, dice, file });
  await traffic.reach(500, 200);

  const start = performance.now();
  server.signal('SIGTERM');
  // The callers go on as long as there is a server.
  await traffic.ended;
  await traffic.stop();
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(performance.now() - start).toBeLessThan(10_000);
  expect(traffic.cut).toBe(0);
  expect(traffic.wrong).toEqual([]);
  expect(await databasePid()).toBeNull();
});

it('stops once when it is told several times', async () => {
  const server = await rig.serve({ HOLDFAST_DATA_DIR: dataDir });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGINT'] as const) server.signal(signal);
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(await databasePid()).toBeNull();
});

it('stops when it is told while it starts', async () => {
  const starting = rig.run(['serve'], { HOLDFAST_DATA_DIR: dataDir, HOLDFAST_LOG_LEVEL: 'info' });
  await until('the database runs', async () => (await databasePid()) !== null);
  starting.signal('SIGTERM');
  expect(await starting.exited).toEqual({ code: 0, signal: null });
  expect(await databasePid()).toBeNull();
});

it('stops when npm start is told', async () => {
  const npm = rig.runProgram('npm', ['start'], { HOLDFAST_DATA_DIR: dataDir });
  await readyUrl(npm);
  npm.signal('SIGTERM');
  // Also everything that it started: its output is closed only when the last of them is gone.
  await npm.exited;
  expect(npm.output()).toContain('Stopping.');
  expect(await databasePid()).toBeNull();
});
