import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { withSql } from '../support/kill-rig.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { callOnce } from '../support/rest-client.ts';
import {
  adminToken,
  createProcessRig,
  embeddedUrl,
  type ProcessRig,
  postmasterPid,
  type Running,
  readyUrl,
  removeFolder,
} from '../support/server-process.ts';
import { until } from '../support/until.ts';

/** What a start does, and what it refuses to start with. */
let rig: ProcessRig;
let folder: string;
let dataDir: string;

beforeEach(async () => {
  rig = createProcessRig();
  folder = await rig.folder();
  dataDir = join(folder, 'data');
});
afterEach(() => rig.close());

const TOKEN = `hf_local_${'r'.repeat(43)}`;

it('migrates once when several replicas start on an empty database, and all take the same token', async () => {
  const { url } = await startPostgres(rig);
  const environment = { DATABASE_URL: url, HOLDFAST_ADMIN_TOKEN: TOKEN, HOLDFAST_POOL_SIZE: '3' };
  const replicas = await Promise.all(Array.from({ length: 4 }, () => rig.serve(environment)));
  for (const replica of replicas) {
    expect(await callOnce(replica.url, TOKEN, 'GET', '/v1/me')).toMatchObject({
      status: 200,
      body: { is_admin: true },
    });
  }
  expect(replicas.filter((replica) => replica.output().includes('shown this once'))).toHaveLength(1);
  const counts = await withSql(url, (sql) =>
    sql(`SELECT (SELECT count(*) = count(DISTINCT migration_name) FROM _prisma_migrations) AS migrated_once,
                (SELECT count(*)::int FROM tenant) AS tenants, (SELECT count(*)::int FROM person) AS people,
                (SELECT count(*)::int FROM api_token) AS tokens`),
  );
  expect(counts).toEqual([{ migrated_once: true, tenants: 1, people: 1, tokens: 1 }]);
});

it('refuses a data folder that another server has, and leaves that one as it is', async () => {
  const first = await rig.serve({ HOLDFAST_DATA_DIR: dataDir });
  const second = rig.run(['serve'], { HOLDFAST_DATA_DIR: dataDir });
  expect((await second.exited).code).toBe(2);
  expect(second.output()).toBe(
    `holdfast: another server runs on the data folder ${dataDir}: stop it, or set HOLDFAST_DATA_DIR to another folder\n`,
  );
  expect(await callOnce(first.url, await adminToken(dataDir), 'GET', '/v1/me')).toMatchObject({ status: 200 });
});

it('gives the folder to one of two first starts at the same moment', async () => {
  const starts = [1, 2].map(() => rig.run(['serve'], { HOLDFAST_DATA_DIR: dataDir }));
  const lost = await Promise.race(starts.map((start) => start.exited.then(({ code }) => ({ start, code }))));
  expect(lost.code).toBe(2);
  expect(lost.start.output()).toContain('another server runs on the data folder');
  const winner = starts.find((start) => start !== lost.start) as Running;
  expect(await callOnce(await readyUrl(winner), await adminToken(dataDir), 'GET', '/v1/me')).toMatchObject({
    status: 200,
  });
});

it('shows the token on the first start only, and keeps it for its owner alone', async () => {
  const first = await rig.serve({ HOLDFAST_DATA_DIR: dataDir });
  const token = await adminToken(dataDir);
  expect(first.output()).toContain(token);
  expect((await stat(join(dataDir, 'admin-token'))).mode & 0o777).toBe(0o600);
  first.signal('SIGTERM');
  await first.exited;
  const second = await rig.serve({ HOLDFAST_DATA_DIR: dataDir });
  expect(second.output()).not.toContain(token);
  expect(await adminToken(dataDir)).toBe(token);
});

it('prints a line for curl that works as it stands, on the first start and on the next', async () => {
  // A folder with what a shell would take for its own.
  const odd = join(folder, "da ta's");
  for (const start of ['first', 'second']) {
    const server = await rig.serve({ HOLDFAST_DATA_DIR: odd });
    const line = /^ {2}(curl .*)$/m.exec(server.output())?.[1] as string;
    const shell = rig.runProgram('bash', ['-c', line]);
    expect((await shell.exited).code).toBe(0);
    const [nodes, claim] = shell.output().replace('}{', '}\n{').split('\n');
    const status = start === 'first' ? 'created' : 'skipped';
    expect(JSON.parse(nodes as string)).toEqual({ results: [{ id: 'task-hello', status }] });
    expect(JSON.parse(claim as string)).toMatchObject({ ok: true, lease: { node_id: 'task-hello', by: 'admin' } });
    server.signal('SIGTERM');
    await server.exited;
  }
});

it('listens on a port where the path of its folder is too long for a socket, also after its database died', async () => {
  const deep = join(folder, 'd'.repeat(100), 'data');
  const server = await rig.serve({ HOLDFAST_DATA_DIR: deep });
  expect(new URL(await embeddedUrl(deep)).searchParams.get('host')).toBeNull();
  const token = await adminToken(deep);
  const answers = async () => (await callOnce(server.url, token, 'GET', '/v1/me')).status === 200;
  expect(await answers()).toBe(true);
  const killed = (await postmasterPid(join(deep, 'postgres'))) as number;
  process.kill(killed, 'SIGKILL');
  await until(
    'another database runs',
    async () => ![killed, null].includes(await postmasterPid(join(deep, 'postgres'))),
  );
  await until('the server answers again', answers, { say: server.output });
  server.signal('SIGTERM');
  expect((await server.exited).code).toBe(0);
});

// Only root lends its database to another user, who may not get everywhere.
it.runIf(process.getuid?.() === 0)(
  'uses a folder of the system, and says so, where its database cannot get',
  async () => {
    await chmod(folder, 0o700);
    const used = join('/var/lib/holdfast', dataDir.replaceAll('/', '-').slice(1));
    rig.defer(() => removeFolder(used));
    const server = await rig.serve({ HOLDFAST_DATA_DIR: dataDir });
    expect(server.output()).toContain(`with its data in ${used}\n`);
    expect(await callOnce(server.url, await adminToken(used), 'GET', '/v1/me')).toMatchObject({ status: 200 });
    server.signal('SIGTERM');
    expect((await server.exited).code).toBe(0);
  },
);

it('names every variable it cannot use, all at once', async () => {
  const faulty = {
    PORT: 'x',
    DATABASE_URL: 'mysql://x',
    HOLDFAST_POOL_SIZE: '1',
    HOLDFAST_STOP_TIMEOUT: '5',
    HOST: ' ',
  };
  const start = rig.run(['serve'], { ...faulty, HOLDFAST_ADMIN_TOKEN: 'secret', HOLDFAST_DATA_DIR: dataDir });
  expect((await start.exited).code).toBe(2);
  for (const name of ['PORT', 'DATABASE_URL', 'HOLDFAST_POOL_SIZE', 'HOLDFAST_STOP_TIMEOUT', 'HOLDFAST_ADMIN_TOKEN']) {
    expect(start.output()).toMatch(new RegExp(`^ {2}${name}: must be`, 'm'));
  }
  expect(start.output()).not.toContain('secret');
});
