import fc from 'fast-check';
import '../support/seed.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { STATUS_OF } from '../../src/rest/errors.ts';
import { createDoorsRig, type Doors, ORIGIN } from '../support/doors.ts';
import { anyJson, objectOf, oddText } from './any-json.ts';
import { fingerprint } from './fingerprint.ts';

/** Whatever is sent to the REST door gets its envelope with a documented code, never a 500, and changes nothing. */
let doors: Doors;
let id: string;
beforeAll(async () => {
  doors = await createDoorsRig();
  id = await doors.node();
  await doors.rest('bo', 'POST', `/v1/nodes/${id}/claim`);
});
afterAll(() => doors.close());

const FIELDS = ['session', 'dispatch', 'force', 'fence', 'ms', 'status', 'ids', 'project', 'nodes', 'if_exists'];
const PATHS = [
  ...['claim', 'renew', 'extend', 'reserve', 'release', 'status'].map(
    (verb) => (node: string) => `/v1/nodes/${node}/${verb}`,
  ),
  ...['claim', 'renew', 'release'].map((verb) => () => `/v1/queue/${verb}`),
  () => '/v1/nodes',
];

/** A Request with a body of text has a content type of its own unless one is given. */
const JSON_TYPE = { 'Content-Type': 'application/json' };

async function send(path: string, body: string, headers: Record<string, string> = JSON_TYPE): Promise<Response> {
  const Authorization = `Bearer ${doors.token('ana')}`;
  return doors.fetch(new Request(ORIGIN + path, { method: 'POST', headers: { Authorization, ...headers }, body }));
}

/** @returns the status, after it was held against the table of codes */
async function judged(answer: Response): Promise<number> {
  const body = JSON.parse(await answer.text());
  if (answer.status === 200) return 200;
  expect(Object.keys(STATUS_OF)).toContain(body.error.code);
  expect(STATUS_OF[body.error.code as keyof typeof STATUS_OF]).toBe(answer.status);
  expect(answer.status).toBeLessThan(500);
  expect(body.error.message).toMatch(/\S/);
  return answer.status;
}

describe('a body', () => {
  it.each(PATHS.map((path) => [path('{id}'), path] as const))('of anything to %s', async (_name, path) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(objectOf(FIELDS), anyJson), async (body) => {
        const before = await fingerprint(doors);
        const status = await judged(await send(path(id), JSON.stringify(body), JSON_TYPE));
        // The node is bo's, so no call of ana's may change it; a call that named other nodes found none.
        if (status !== 200 || !path(id).endsWith('/status')) expect(await fingerprint(doors)).toBe(before);
      }),
      { numRuns: 60 },
    );
  });

  it('that is no JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1 }), fc.constantFrom(...PATHS), async (text, path) => {
        const before = await fingerprint(doors);
        await judged(await send(path(id), `{${text.toWellFormed()}`, JSON_TYPE));
        expect(await fingerprint(doors)).toBe(before);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    'text/plain',
    'application/xml',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    'nonsense',
  ])('of the content type %s is not read', async (type) => {
    expect(await judged(await send(`/v1/nodes/${id}/claim`, '{}', { 'Content-Type': type }))).toBe(415);
  });

  it('of a million brackets', async () => {
    for (const text of ['['.repeat(1_000_000), `{"session":${'['.repeat(500_000)}${']'.repeat(500_000)}}`]) {
      expect(await judged(await send(`/v1/nodes/${id}/claim`, text))).toBeGreaterThanOrEqual(400);
    }
  });
});

describe('an id in the path', () => {
  it('of anything', async () => {
    await fc.assert(
      fc.asyncProperty(oddText, fc.constantFrom('claim', 'renew', 'release', 'status'), async (name, verb) => {
        const path = `/v1/nodes/${encodeURIComponent(name.toWellFormed())}/${verb}`;
        const status = await judged(await send(path, verb === 'status' ? '{"status":"open"}' : '{}'));
        expect([404, 405, 422]).toContain(status);
      }),
      { numRuns: 150 },
    );
  });

  it.each(['%', '%zz', '%ff', '%00', '%2f', '%e2%82', '..', '%2e%2e', '+'])('that is %s', async (name) => {
    const status = await judged(await send(`/v1/nodes/${name}/claim`, '{}'));
    expect([404, 405, 422]).toContain(status);
  });
});
