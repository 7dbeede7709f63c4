import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDoorsRig, type Doors, type Json, ORIGIN } from '../support/doors.ts';

let doors: Doors;
let paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
beforeAll(async () => {
  doors = await createDoorsRig();
  ({ paths } = await (await doors.fetch(new Request(`${ORIGIN}/openapi.json`))).json());
});
afterAll(() => doors.close());

function call(method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const authorization = { Authorization: `Bearer ${doors.token('ana')}` };
  return doors.fetch(new Request(ORIGIN + path, { method, headers: { ...authorization, ...headers } }));
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

describe('a path that is not there', () => {
  it.each([
    '/',
    '/v1',
    '/v1/',
    '/v1/me/',
    '/v1/nothing',
    '/v2/me',
    '/v1/nodes/n00001/claim/more',
    '/v1/nodes/%2e%2e%2fme',
    '/graphql/more',
    '/graphiql',
    '/favicon.ico',
    '/v1/nodes//claim',
  ])('%s is 404 in the envelope, for any method and whether there is a token or not', async (path) => {
    for (const method of METHODS.filter((name) => name !== 'HEAD')) {
      for (const headers of [{}, { Authorization: '' }]) {
        const answer = await call(method, path, headers);
        // What is one segment is the id of a node, and malformed.
        if (path.startsWith('/v1/nodes/%')) expect([401, 405, 422]).toContain(answer.status);
        else expect(answer.status).toBe(404);
        expect(await answer.json()).toMatchObject({ error: { code: expect.any(String), message: expect.any(String) } });
      }
    }
  });
});

describe('a known path', () => {
  it('refuses every other method with 405, and says which it takes', async () => {
    let refused = 0;
    for (const [path, operations] of Object.entries(paths)) {
      const takes = Object.keys(operations).map((method) => method.toUpperCase());
      const allow = takes.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
      for (const method of METHODS.filter((name) => !allow.includes(name))) {
        const answer = await call(method, path.replace('{id}', 'some-node'));
        expect([method, path, answer.status]).toEqual([method, path, 405]);
        expect(answer.headers.get('Allow')).toBe(allow.join(', '));
        if (method !== 'HEAD') expect(await answer.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(50);
  });

  it('of GraphQL does so too', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await call(method, '/graphql');
      expect([method, answer.status, answer.headers.get('Allow')]).toEqual([method, 405, 'GET, HEAD, POST']);
      expect(await answer.json()).toMatchObject({ errors: [{ extensions: { code: 'METHOD_NOT_ALLOWED' } }] });
    }
  });

  it('answers HEAD as GET, without the body', async () => {
    const id = await doors.node();
    const document = encodeURIComponent('{ serverTime }');
    for (const path of [
      '/v1/me',
      `/v1/nodes/${id}`,
      '/livez',
      '/readyz',
      '/openapi.json',
      `/graphql?query=${document}`,
    ]) {
      const [got, head] = [await call('GET', path), await call('HEAD', path)];
      expect([path, got.status, head.status]).toEqual([path, 200, 200]);
      expect(head.headers.get('Content-Type')).toBe(got.headers.get('Content-Type'));
      expect(await head.text()).toBe('');
      expect(await got.text()).not.toBe('');
    }
    expect((await call('HEAD', '/v1/nodes/not-there')).status).toBe(404);
    expect((await call('HEAD', '/v1/me', { Authorization: '' })).status).toBe(401);
  });
});

describe('an id in the path', () => {
  it.each([
    '%',
    '%zz',
    '%E0%A4%A',
    '%00',
    'a%00b',
    '%2F',
    'A',
    'ä',
    '%c3%a4',
    '-a',
    'a b',
    '%ff',
    '%0d%0aX: 1',
    '..%2f..',
  ])('that is malformed, %s, is refused without a fault', async (id) => {
    for (const [method, path] of [
      ['GET', `/v1/nodes/${id}`],
      ['POST', `/v1/nodes/${id}/claim`],
      ['POST', `/v1/nodes/${id}/status`],
    ] as const) {
      const answer = await call(method, path);
      expect([404, 422]).toContain(answer.status);
      expect(await answer.json()).toMatchObject({
        error: { code: expect.stringMatching(/^(invalid_input|not_found)$/) },
      });
    }
  });

  it('may be percent-encoded', async () => {
    const id = await doors.node();
    expect((await call('GET', `/v1/nodes/%6e${id.slice(1)}`)).status).toBe(200);
  });
});

describe('another origin', () => {
  it('is given no leave by any answer', async () => {
    const headers = { Origin: 'https://elsewhere.example', 'Access-Control-Request-Method': 'POST' };
    const answers = [
      await call('OPTIONS', '/v1/nodes/some-node/claim', headers),
      await call('OPTIONS', '/graphql', headers),
      await call('OPTIONS', '/nothing', headers),
      await call('GET', '/v1/me', headers),
      await call('GET', '/openapi.json', headers),
      await call('GET', `/graphql?query=${encodeURIComponent('{ serverTime }')}`, headers),
      await call('GET', '/v1/me', { ...headers, Authorization: 'Bearer nobody' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([405, 405, 404, 200, 200, 200, 401]);
    for (const answer of answers) {
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});

it('every answer says that it may not be kept, and by what it was chosen', async () => {
  for (const path of ['/v1/me', '/nothing', '/livez', '/openapi.json', '/graphql', '/graphql?query={serverTime}']) {
    for (const headers of [{}, { Authorization: '' }]) {
      const answer = await call('GET', path, headers);
      expect(answer.headers.get('Cache-Control')).toBe('no-store');
      expect(answer.headers.get('Vary')).toBe('Accept, Authorization, Origin');
    }
  }
});
