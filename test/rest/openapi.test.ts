import { createConfig, lintFromString } from '@redocly/openapi-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDoorsRig, type Doors, type Json, ORIGIN } from '../support/doors.ts';
import { createOpenapiCheck } from '../support/openapi-check.ts';

let doors: Doors;
let document: Json;
beforeAll(async () => {
  doors = await createDoorsRig();
  document = await (await doors.fetch(new Request(`${ORIGIN}/openapi.json`))).json();
});
afterAll(() => doors.close());

describe('the document', () => {
  it('needs no token', async () => {
    const answer = await doors.fetch(new Request(`${ORIGIN}/openapi.json`));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('Content-Type')).toBe('application/json');
  });

  it('has no fault that the linter knows', async () => {
    // What needs no token and takes nothing has nothing to refuse.
    const config = await createConfig({ extends: ['recommended'], rules: { 'operation-4xx-response': 'off' } });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    expect(problems.map(({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer}`)).toEqual([]);
  });

  it('is docs/openapi.json; run vitest with -u after a change', async () => {
    await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('../../docs/openapi.json');
  });

  it('describes every operation, parameter, answer and field', () => {
    expect([...undescribed(document.paths, 'paths'), ...undescribed(document.components, 'components')]).toEqual([]);
  });

  it('says the unit of every field that is a time', () => {
    const times = fieldsOf(document).filter(([name]) => /(_ms|_at|^ms|^expires)$/.test(name));
    expect(times.length).toBeGreaterThan(5);
    for (const [name, { description }] of times) {
      expect([name, description]).toEqual([name, expect.stringMatching(/milliseconds|ISO 8601/)]);
    }
  });

  it('gives each status of the error table the codes that the table has for it', () => {
    const table: Readonly<Record<string, readonly string[]>> = {
      400: ['invalid_json'],
      401: ['unauthorized'],
      403: ['forbidden'],
      404: ['not_found'],
      409: ['conflict', 'lease_lost', 'not_ready', 'limit_reached', 'transition_denied'],
      413: ['too_large'],
      415: ['unsupported_media_type'],
      422: ['invalid_node', 'invalid_input'],
      429: ['rate_limited'],
      500: ['internal'],
      503: ['unavailable'],
    };
    for (const operation of operations()) {
      for (const [status, { content }] of Object.entries<Json>(operation.responses)) {
        if (status === '200') continue;
        const [envelope, { properties }] = content['application/json'].schema.allOf;
        expect(envelope).toEqual({ $ref: '#/components/schemas/Error' });
        expect(table[status]).toEqual(expect.arrayContaining(properties.error.properties.code.enum));
      }
    }
  });

  it('asks for a token everywhere but for the server’s own routes', () => {
    const open = operations().filter(({ security }) => security?.length === 0);
    expect(open.map(({ operationId }) => operationId).sort()).toEqual(['live', 'openapi', 'ready']);
    expect(document.security).toEqual([{ token: [] }]);
  });
});

describe('the check of answers', () => {
  const me = { person: 'ana', name: 'Ana', email: null, bound: true, is_admin: false, org: 'acme' };
  const got = (path: string, status: number, body: Json) => () =>
    createOpenapiCheck(document)({ method: 'GET', path, status, body });

  it('lets pass what is described', () => {
    expect(got('/v1/me', 200, me)).not.toThrow();
    expect(got('/v1/nothing', 404, { error: { code: 'not_found', message: 'There is nothing.' } })).not.toThrow();
  });

  it.each([
    ['a field too many', '/v1/me', 200, { ...me, more: 1 }],
    ['a field too few', '/v1/me', 200, { ...me, name: undefined }],
    ['a field of another type', '/v1/me', 200, { ...me, is_admin: 'no' }],
    ['a status that is not described', '/v1/me', 404, { error: { code: 'not_found', message: 'No.' } }],
    ['a code that its status has not', '/v1/nodes/n', 404, { error: { code: 'forbidden', message: 'No.' } }],
    ['a field too many of an error', '/v1/nodes/n', 404, { error: { code: 'not_found', message: 'No.', more: 1 } }],
    ['a route that is not described', '/v1/nothing', 200, {}],
  ])('refuses %s', (_name, path, status, body) => {
    expect(got(path, status, JSON.parse(JSON.stringify(body)))).toThrow();
  });
});

function operations(): Json[] {
  return Object.values<Json>(document.paths).flatMap((methods) => Object.values<Json>(methods));
}

/** Every property of every object schema, with its name. */
function fieldsOf(part: Json): [string, Json][] {
  if (typeof part !== 'object' || part === null) return [];
  const own = part.type === 'object' ? Object.entries<Json>(part.properties ?? {}) : [];
  return [...own, ...Object.values(part).flatMap(fieldsOf)];
}

function undescribed(part: Json, place: string): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const bare = part.type === 'object' ? Object.entries<Json>(part.properties ?? {}) : [];
  const mustSay = 'operationId' in part || 'in' in part || 'responses' in part;
  return [
    ...bare.filter(([, field]) => !field.description?.trim()).map(([name]) => `${place}.${name}`),
    ...(mustSay && !(part.description ?? part.summary)?.trim() ? [place] : []),
    ...Object.entries(part).flatMap(([key, inner]) => undescribed(inner, `${place}.${key}`)),
  ];
}
