import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDoorsRig, type Doors, type Json, ORIGIN } from '../support/doors.ts';

let doors: Doors;
const lines: Json[] = [];
beforeAll(async () => {
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  doors = await createDoorsRig({}, log);
});
afterAll(() => doors.close());
beforeEach(() => {
  lines.length = 0;
});

const CLAIM = 'mutation { claimLeases(input: { nodeIds: ["n00001"] }) { count } }';

function call(path: string, headers: Readonly<Record<string, string>> = {}, body?: object): Promise<Response> {
  const common = { Authorization: `Bearer ${doors.token('ana')}`, 'Content-Type': 'application/json' };
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  return doors.fetch(new Request(ORIGIN + path, { headers: { ...common, ...headers }, ...sent }));
}

describe('a request id', () => {
  it.each(['a', 'run-1.2:3/4@host', '0'.repeat(128)])('that is safe, %s, is taken over', async (id) => {
    for (const path of ['/v1/me', '/nothing', '/livez', '/graphql?query={serverTime}', '/graphql']) {
      expect((await call(path, { 'X-Request-Id': id })).headers.get('X-Request-Id')).toBe(id);
    }
  });

  it.each(['', '0'.repeat(129), 'a b', 'a"b', 'a,b', '<script>', 'ä', '{"a":1}'])(
    'that is not safe, %s, is replaced',
    async (id) => {
      const given = (await call('/v1/me', { 'X-Request-Id': id })).headers.get('X-Request-Id');
      expect(given).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('is another one for each request that brings none', async () => {
    const ids: (string | null)[] = [];
    for (const path of ['/v1/me', '/v1/me', '/nothing', '/graphql', '/v1/nodes']) {
      ids.push((await call(path)).headers.get('X-Request-Id'));
    }
    expect(new Set(ids).size).toBe(5);
    expect(ids).not.toContain(null);
  });
});

describe('the log', () => {
  it('has one line for each request, with what came of it', async () => {
    await call('/v1/me', { 'X-Request-Id': 'one' });
    await call('/graphql', { 'X-Request-Id': 'two' }, { query: '{ serverTime }' });
    await call('/nothing', { 'X-Request-Id': 'three' });
    expect(lines).toEqual([
      expect.objectContaining({ requestId: 'one', method: 'GET', path: '/v1/me', status: 200, ms: expect.any(Number) }),
      expect.objectContaining({ requestId: 'two', method: 'POST', path: '/graphql', status: 200 }),
      expect.objectContaining({ requestId: 'three', method: 'GET', path: '/nothing', status: 404 }),
    ]);
    expect(new Set(lines.map(({ level }) => level))).toEqual(new Set([pino.levels.values.debug]));
  });

  it('has no token, no query and no body in it', async () => {
    await call('/v1/me?token=hidden-one', { Cookie: 'hidden-two' });
    await call('/v1/queue/claim', {}, { ids: [], session: 'hidden-three' });
    await call('/graphql?query={serverTime}&x=hidden-four');
    await call('/v1/me', { Authorization: 'Bearer hf_acme_hidden-five' });
    expect(JSON.stringify(lines)).not.toMatch(/hidden|hf_/);
    expect(lines.length).toBe(4);
  });
});

describe('a fault', () => {
  const fail = () => doors.beforeNextWrite(() => Promise.reject(new Error('planted: hunter2')));

  it('over REST is told by its request id only, and logged under the same', async () => {
    fail();
    const answer = await call('/v1/queue/claim', { 'X-Request-Id': 'failing' }, { ids: ['n00001'] });
    expect(answer.status).toBe(500);
    const body = await answer.json();
    expect(body).toMatchObject({ error: { code: 'internal', details: { request_id: 'failing' } } });
    expect(JSON.stringify(body)).not.toContain('hunter2');
    expect(lines.find(({ err }) => err?.message === 'planted: hunter2')).toMatchObject({ requestId: 'failing' });
  });

  it('over GraphQL too', async () => {
    fail();
    const answer = await call('/graphql', { 'X-Request-Id': 'failing' }, { query: CLAIM });
    const body = await answer.json();
    expect(body.errors).toMatchObject([{ extensions: { code: 'INTERNAL', requestId: 'failing' } }]);
    expect(JSON.stringify(body)).not.toContain('hunter2');
    expect(lines.find(({ err }) => err?.message === 'planted: hunter2')).toMatchObject({ requestId: 'failing' });
  });
});
