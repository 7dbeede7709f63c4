import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Unavailable } from '../../src/engine/unavailable.ts';
import { type ErrorCode, errorAnswer, STATUS_OF } from '../../src/rest/errors.ts';
import { createDoorsRig, type Doors, ORIGIN, type RestAnswer } from '../support/doors.ts';

/** The table of the contract, provoked code by code; what a caller is told beside the code. */
let doors: Doors;
beforeAll(async () => {
  doors = await createDoorsRig();
});
afterAll(() => doors.close());

const post = (who: string, path: string, body: unknown = {}) => doors.rest(who, 'POST', path, body);

async function raw(method: string, path: string, headers: Record<string, string>, body?: string): Promise<RestAnswer> {
  // A text would bring a content type along; bytes bring none.
  const sent = body === undefined ? {} : { body: new TextEncoder().encode(body) };
  const answer = await doors.fetch(new Request(ORIGIN + path, { method, headers, ...sent }));
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}
const asAna = () => ({ Authorization: `Bearer ${doors.token('ana')}` });

/** A node that bo holds. */
async function heldByBo(): Promise<string> {
  const id = await doors.node();
  await post('bo', `/v1/nodes/${id}/claim`);
  return id;
}

const PROVOKED: Readonly<Record<Exclude<ErrorCode, 'rate_limited'>, () => Promise<RestAnswer>>> = {
  unauthorized: () => raw('GET', '/v1/me', {}),
  forbidden: () => post('ana', '/v1/nodes', { nodes: [] }),
  not_found: () => post('ana', '/v1/nodes/not-there/claim'),
  method_not_allowed: () => raw('DELETE', '/v1/me', asAna()),
  conflict: async () => post('ana', `/v1/nodes/${await heldByBo()}/claim`),
  lease_lost: async () => post('ana', `/v1/nodes/${await heldByBo()}/renew`),
  not_ready: async () => post('ana', `/v1/nodes/${await doors.node({ status: 'done' })}/claim`),
  async limit_reached() {
    const id = await doors.node();
    await doors.policy({ held_max: 1 });
    await post('cleo', `/v1/nodes/${await doors.node()}/claim`);
    const answer = await post('cleo', `/v1/nodes/${id}/claim`);
    await doors.policy({ held_max: null });
    return answer;
  },
  transition_denied: async () => post('ana', `/v1/nodes/${await doors.node()}/status`, { status: 'answered' }),
  too_large: () => raw('POST', '/v1/queue/claim', asAna(), ' '.repeat(1_048_577)),
  unsupported_media_type: () => raw('POST', '/v1/queue/claim', { ...asAna(), 'Content-Type': 'text/csv' }, 'ids'),
  invalid_json: () => raw('POST', '/v1/queue/claim', asAna(), '{"ids": ['),
  invalid_node: async () => post('ana', `/v1/nodes/${await doors.node({ type: 'person' })}/claim`),
  invalid_input: () => post('ana', '/v1/nodes/Not-An-Id/claim'),
  unavailable() {
    doors.beforeNextWrite(() => Promise.reject(new Unavailable('The node is busy. Repeat the call.', 2_500)));
    return post('ana', '/v1/queue/claim', { ids: ['n00001'] });
  },
  internal() {
    doors.beforeNextWrite(() => Promise.reject(new Error('planted')));
    return post('ana', '/v1/queue/claim', { ids: ['n00001'] });
  },
};

describe('a refusal', () => {
  it.each(Object.entries(PROVOKED))(
    '%s has its status, a message and nothing that is not documented',
    async (code, provoke) => {
      const { status, body } = await provoke();
      expect({ status, code: body.error.code }).toEqual({ status: STATUS_OF[code as ErrorCode], code });
      expect(body.error.message.length).toBeGreaterThan(10);
    },
  );

  it('401 names the scheme', async () => {
    const { headers } = await PROVOKED.unauthorized();
    expect(headers.get('WWW-Authenticate')).toBe('Bearer');
  });

  it('405 names the methods', async () => {
    const { headers, body } = await PROVOKED.method_not_allowed();
    expect(headers.get('Allow')).toBe('GET, HEAD');
    expect(body.error.message).toContain('GET, HEAD');
  });

  it('413 closes the connection', async () => {
    expect((await PROVOKED.too_large()).headers.get('Connection')).toBe('close');
  });

  it('503 says when to try again, in whole seconds rounded up', async () => {
    expect((await PROVOKED.unavailable()).headers.get('Retry-After')).toBe('3');
  });

  it.each([
    ['claim', 'conflict'],
    ['renew', 'lease_lost'],
    ['extend', 'lease_lost'],
    ['reserve', 'lease_lost'],
    ['release', 'conflict'],
  ])('409 of %s on what another holds says who, until when, and when to try again', async (verb, code) => {
    const id = await heldByBo();
    await doors.pass(44 * 60_000 + 59_500);
    const { headers, body } = await post('ana', `/v1/nodes/${id}/${verb}`, { ms: 1 });
    expect(body).toMatchObject({ error: { code }, holder: { by: 'bo', by_name: 'Bo', node_id: id } });
    expect(body.error.message).toContain('bo');
    expect(body.error.message).toContain(body.holder.expires_at);
    expect(headers.get('Retry-After')).toBe('1');
  });

  it('409 that nobody holds does not tell to wait', async () => {
    for (const code of ['not_ready', 'limit_reached', 'transition_denied'] as const) {
      const { headers, body } = await PROVOKED[code]();
      expect([code, headers.get('Retry-After'), body.holder]).toEqual([code, null, undefined]);
    }
  });

  it('422 names the field', async () => {
    expect((await PROVOKED.invalid_input()).body.error.details).toEqual({ field: 'id' });
    const { body } = await post('ana', '/v1/queue/claim', { ids: ['a', 7] });
    expect(body.error.details).toEqual({ field: 'ids.1' });
  });

  it('429 says when to try again, wherever it will come from', async () => {
    const app = new Hono().get('/', (c) => errorAnswer(c, 'rate_limited', 'Too many calls. Slow down.'));
    const answer = await app.request('/');
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, '1']);
  });
});

it('a refusal of the path comes before the question who calls, and a refusal of the body after it', async () => {
  expect((await raw('GET', '/v1/nothing', {})).status).toBe(404);
  expect((await raw('DELETE', '/v1/me', {})).status).toBe(405);
  expect((await raw('POST', '/v1/queue/claim', {}, '{')).status).toBe(401);
  expect((await raw('POST', '/v1/nodes', asAna(), '{')).status).toBe(403);
});
