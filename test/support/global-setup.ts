import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbedded } from '../../src/db/embedded.ts';
import { migrate } from '../../src/db/migrate.ts';

/**
 * One PostgreSQL for the whole run: the server of HOLDFAST_TEST_DATABASE_URL, or the embedded default in a folder of its
 * own. A template is migrated once; each test file clones it.
 */
declare module 'vitest' {
  interface ProvidedContext {
    /** The server's maintenance database, as a user who may create databases. */
    serverUrl: string;
    template: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.HOLDFAST_TEST_DATABASE_URL;
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  const embedded = given === undefined ? await embeddedIn(folder) : null;
  const serverUrl = given ?? embedded?.url ?? '';
  const template = `holdfast_template_${process.pid}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`CREATE DATABASE ${template}`);
  await migrate(inDatabase(serverUrl, template));
  project.provide('serverUrl', serverUrl);
  project.provide('template', template);
  return async () => {
    await client.query(`DROP DATABASE ${template} WITH (FORCE)`);
    await client.end();
    await embedded?.stop();
    await rm(folder, { recursive: true, force: true });
  };
}

async function embeddedIn(folder: string) {
  const { chmod } = await import('node:fs/promises');
  await chmod(folder, 0o755);
  const silent = { info() {}, error: (details: object, message: string) => console.error(message, details) };
  return startEmbedded({ folder, log: silent });
}

function inDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}
