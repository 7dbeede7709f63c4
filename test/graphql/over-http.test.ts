import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpServer, listen } from '../../src/http.ts';
import { createDoorsRig, type Doors, type Json, ORIGIN } from '../support/doors.ts';

/** GraphQL over HTTP as its specification has it, with authentication on and over a real connection. */
let doors: Doors;
let server: HttpServer;
beforeAll(async () => {
  doors = await createDoorsRig();
  server = await listen(doors.fetch, '127.0.0.1', 0);
});
afterAll(async () => {
  await server.stop(0);
  await doors.close();
});

const audits = serverAudits({
  url: () => `${server.url}/graphql`,
  fetchFn: (input: string | URL, init: RequestInit = {}) =>
    fetch(input, { ...init, headers: { ...init.headers, Authorization: `Bearer ${doors.token('ana')}` } }),
});

describe('the audit of graphql-http', () => {
  it('has 61 questions', () => {
    expect(audits.length).toBe(61);
  });

  it.each(audits.map((audit) => [audit.id, audit.name, audit] as const))('%s: %s', async (_id, _name, audit) => {
    const result = await audit.fn();
    expect(result.status === 'ok' ? 'ok' : result.reason).toBe('ok');
  });
});

async function call(
  method: string,
  query: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<{ status: number; headers: Headers; text: string; json: () => Json }> {
  const authorization = { Authorization: `Bearer ${doors.token('ana')}` };
  const sent = body === undefined ? {} : { body: new TextEncoder().encode(body) };
  const init = { method, headers: { ...authorization, ...headers }, ...sent };
  const answer = await doors.fetch(new Request(`${ORIGIN}/graphql${query}`, init));
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, json: () => JSON.parse(text) };
}

const json = { 'Content-Type': 'application/json' };

describe('GET', () => {
  it('answers a query', async () => {
    const { status, json: read } = await call(
      'GET',
      `?query=${encodeURIComponent('{ viewer { person { personId } } }')}`,
    );
    expect([status, read().data]).toEqual([200, { viewer: { person: { personId: 'ana' } } }]);
  });

  it.each(['application/json', 'application/graphql-response+json'])(
    'never does a mutation, whatever it accepts, %s',
    async (accept) => {
      const id = await doors.node();
      const mutation = encodeURIComponent(`mutation { claimLease(input: { nodeId: "${id}" }) { __typename } }`);
      const { status, headers, json: read } = await call('GET', `?query=${mutation}`, { Accept: accept });
      expect([status, headers.get('Allow')]).toEqual([405, 'POST']);
      expect(read().errors[0].message).toMatch(/POST/);
      expect((await doors.rest('ana', 'GET', `/v1/nodes/${id}`)).body.lease).toBeUndefined();
    },
  );

  it('shows a browser no page of its own', async () => {
    for (const query of ['', `?query=${encodeURIComponent('{ serverTime }')}`]) {
      const { headers, text } = await call('GET', query, { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
      expect(headers.get('Content-Type')).not.toContain('html');
      expect(text).not.toMatch(/<html|<script|graphiql/i);
    }
  });
});

describe('POST', () => {
  it('without a token is 401, whatever the document', async () => {
    for (const body of ['{"query":"{ serverTime }"}', '{', '']) {
      const { status, headers, json: read } = await call('POST', '', { ...json, Authorization: '' }, body);
      expect([status, headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer']);
      expect(read().errors[0].extensions.code).toBe('UNAUTHORIZED');
    }
  });

  it.each(['text/plain', 'text/csv', 'multipart/form-data; boundary=x'])('of %s is told 415 in JSON', async (type) => {
    const { status, json: read } = await call('POST', '', { 'Content-Type': type }, '{"query":"{ serverTime }"}');
    expect([status, read().errors[0].extensions.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it.each(['{', '', '[]', 'null', '"text"', '7', '{}', '{"query":7}', '{"query":"{ serverTime }","variables":"x"}'])(
    'of the body %s is told what is wrong, and not with a fault',
    async (body) => {
      const { status, json: read } = await call('POST', '', json, body);
      // The specification has 200 for a document that is missing, as long as plain JSON is accepted.
      expect(status).toBe(body === '{}' ? 200 : 400);
      expect(read().errors[0].message.length).toBeGreaterThan(5);
    },
  );

  it('takes no batch, in which one call could hide thousands', async () => {
    const { status } = await call('POST', '', json, '[{"query":"{ serverTime }"},{"query":"{ serverTime }"}]');
    expect(status).toBe(400);
  });
});
