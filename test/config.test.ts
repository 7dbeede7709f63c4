import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ConfigError, parseDuration, readClientConfig, readServerConfig } from '../src/config.ts';

describe('the configuration', () => {
  it('has a default for everything', () => {
    expect(readServerConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 4000,
      databaseUrl: null,
      dataDir: `${process.cwd()}/.holdfast`,
      adminToken: null,
      poolSize: 8,
      namedStatements: true,
      stopTimeoutMs: 10_000,
    });
    expect(readClientConfig({})).toEqual({ url: 'http://127.0.0.1:4000', token: null });
  });

  it('reports all faults together, each with the name of its variable', () => {
    const read = () =>
      readServerConfig({
        PORT: 'http',
        DATABASE_URL: 'mysql://localhost/holdfast',
        HOLDFAST_ADMIN_TOKEN: 'secret',
        HOLDFAST_POOL_SIZE: '1',
        HOLDFAST_NAMED_STATEMENTS: 'perhaps',
        HOLDFAST_STOP_TIMEOUT: '100ms',
      });
    expect(read).toThrow(ConfigError);
    for (const name of ['PORT', 'DATABASE_URL', 'ADMIN_TOKEN', 'POOL_SIZE', 'NAMED_STATEMENTS', 'STOP_TIMEOUT']) {
      expect(read).toThrow(name);
    }
  });

  it('checks every variable that the README has, and the README has every one that is read', async () => {
    const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8');
    const inCode = [...(await read('../src/config.ts')).matchAll(/^ {2}([A-Z][A-Z_]+): /gm)].map(([, name]) => name);
    const table = (await read('../README.md')).match(/^\| `[A-Z_`, ]+ \|/gm) ?? [];
    const inReadme = table.flatMap((cell) => [...cell.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name));
    expect(inCode.length).toBeGreaterThan(8);
    expect(inReadme.sort()).toEqual(inCode.sort());
  });

  it('never shows a secret in a fault', () => {
    expect(() => readServerConfig({ HOLDFAST_ADMIN_TOKEN: 'hf_local_tooshort' })).not.toThrow('tooshort');
  });

  it('takes an empty variable as absent', () => {
    expect(readServerConfig({ DATABASE_URL: '', PORT: '' })).toMatchObject({ databaseUrl: null, port: 4000 });
  });

  it.each([
    ['1500', 1_500],
    ['250ms', 250],
    ['90s', 90_000],
    ['45m', 2_700_000],
    ['1.5h', 5_400_000],
    ['2d', 172_800_000],
    ['1w', 604_800_000],
    ['', null],
    ['-1s', null],
    ['1 fortnight', null],
    ['1e3', null],
  ])('reads the duration %j as %j ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });
});
