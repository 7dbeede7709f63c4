import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDoorsRig, type Doors, ORIGIN } from '../support/doors.ts';
import { TENANT } from '../support/rig.ts';

let doors: Doors;
beforeAll(async () => {
  doors = await createDoorsRig();
});
afterAll(() => doors.close());

const CREATE = 'mutation ($input: CreateTokenInput!) { createToken(input: $input) { token id } }';

async function newToken(who: string, input: object): Promise<{ token: string; id: string }> {
  const { data, errors } = await doors.graphql('admin', CREATE, { input });
  expect(errors).toBeUndefined();
  doors.introduce(who, data.createToken.token);
  return data.createToken;
}

/** What both doors say to a token: the REST status, and the HTTP status of GraphQL. */
async function statusesOf(who: string): Promise<[number, number]> {
  return [(await doors.rest(who, 'GET', '/v1/me')).status, (await doors.graphql(who, '{ serverTime }')).status];
}

describe('a token', () => {
  it('is shown once and kept as a hash', async () => {
    const { token } = await newToken('one', { personId: 'bo', label: 'laptop' });
    expect(token).toMatch(/^hf_acme_[A-Za-z0-9_-]{43}$/);
    const rows = await doors.database.sql<{ row: string }>('SELECT row_to_json(t)::text AS row FROM api_token t');
    expect(rows.every(({ row }) => !row.includes(token.slice('hf_acme_'.length)))).toBe(true);
    const [stored] = await doors.database.sql(
      `SELECT 1 FROM api_token WHERE tenant_id = $1 AND hash = sha256(convert_to($2, 'UTF8'))`,
      TENANT,
      token,
    );
    expect(stored).toBeDefined();
  });

  it('lets its person in on both doors, and no longer once it is revoked', async () => {
    const { id } = await newToken('revoked', { personId: 'bo' });
    expect(await statusesOf('revoked')).toEqual([200, 200]);
    const revoke = `mutation { revokeToken(input: { id: "${id}" }) { id } }`;
    expect((await doors.graphql('admin', revoke)).data.revokeToken.id).toBe(id);
    expect((await doors.graphql('admin', revoke)).errors).toBeUndefined();
    expect(await statusesOf('revoked')).toEqual([401, 401]);
  });

  it('ends at its expiry, which is lapsed at the very instant', async () => {
    await newToken('ending', { personId: 'bo', expiresAt: new Date(doors.now + 60_000).toISOString() });
    await doors.pass(59_999);
    expect(await statusesOf('ending')).toEqual([200, 200]);
    await doors.pass(1);
    expect(await statusesOf('ending')).toEqual([401, 401]);
  });

  it('can not be made to end in the past', async () => {
    const input = { personId: 'bo', expiresAt: '2001-01-01T00:00:00Z' };
    const { errors } = await doors.graphql('admin', CREATE, { input });
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'INVALID_INPUT' } });
  });

  it('remembers when it was last used, at most once a minute', async () => {
    const { id } = await newToken('used', { personId: 'bo' });
    const lastUse = async () => {
      const text = 'SELECT holdfast_ms(last_used_at) AS at FROM api_token WHERE token_id = $1';
      const [row] = await doors.database.sql<{ at: string }>(text, id);
      return Number(row?.at);
    };
    await statusesOf('used');
    const first = await lastUse();
    expect(first).toBe(doors.now);
    await doors.pass(59_000);
    await statusesOf('used');
    expect(await lastUse()).toBe(first);
    await doors.pass(1_000);
    await statusesOf('used');
    expect(await lastUse()).toBe(first + 60_000);
  });

  it.each([
    ['nothing', undefined],
    ['no bearer', 'Basic aGY6aGY='],
    ['an empty token', 'Bearer '],
    ['no token of ours', 'Bearer abc'],
    ['a tenant that is not there', `Bearer hf_nowhere_${'x'.repeat(43)}`],
    ['a secret that is not there', `Bearer hf_acme_${'x'.repeat(43)}`],
    ['odd characters', `Bearer hf_acme_${"'%".repeat(20)}`],
  ])('is refused on both doors when it is %s', async (_name, authorization) => {
    const headers = {
      'Content-Type': 'application/json',
      ...(authorization !== undefined && { Authorization: authorization }),
    };
    const document = { method: 'POST', headers, body: '{"query":"{ serverTime }"}' };
    const rest = await doors.fetch(new Request(`${ORIGIN}/v1/me`, { headers }));
    const graphql = await doors.fetch(new Request(`${ORIGIN}/graphql`, document));
    for (const answer of [rest, graphql]) {
      expect(answer.status).toBe(401);
      expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
    }
    expect(await rest.json()).toMatchObject({ error: { code: 'unauthorized' } });
  });
});

describe('the right to administer', () => {
  const COUNTS = `SELECT (SELECT count(*) FROM person) AS people, (SELECT count(*) FROM agent) AS agents,
                         (SELECT count(*) FROM api_token) AS tokens, (SELECT count(*) FROM work_node) AS nodes`;

  it.each([
    'createPerson(input: { id: "new-one", name: "New" }) { person { personId } }',
    'createAgent(input: { id: "new-agent", ownerId: "ana" }) { agent { agentId } }',
    'createToken(input: { personId: "ana" }) { id }',
    'revokeToken(input: { id: "tok-1" }) { id }',
    'createWorkNodes(input: { nodes: [{ id: "new-node", type: "task" }] }) { results { status } }',
  ])('is needed for %s', async (write) => {
    const before = await doors.database.sql(COUNTS);
    const { errors } = await doors.graphql('ana', `mutation { ${write} }`);
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    expect(await doors.database.sql(COUNTS)).toEqual(before);
  });

  it('is needed to put nodes by REST', async () => {
    const answer = await doors.rest('ana', 'POST', '/v1/nodes', { nodes: [{ id: 'new-node', type: 'task' }] });
    expect(answer).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
  });

  it.each([
    ['ALREADY_EXISTS', 'createPerson(input: { id: "ana", name: "Again" }) { person { name } }'],
    ['ALREADY_EXISTS', 'createAgent(input: { id: "ana-one", ownerId: "ana" }) { agent { label } }'],
    ['NOT_FOUND', 'createAgent(input: { id: "x", ownerId: "nobody" }) { agent { label } }'],
    ['NOT_FOUND', 'createToken(input: { personId: "nobody" }) { id }'],
    ['NOT_FOUND', 'createToken(input: { agentId: "nobody" }) { id }'],
    ['NOT_FOUND', 'revokeToken(input: { id: "tok-none" }) { id }'],
    ['INVALID_INPUT', 'createToken(input: {}) { id }'],
    ['INVALID_INPUT', 'createToken(input: { agentId: "ana-one", personId: "bo" }) { id }'],
    ['INVALID_INPUT', 'createPerson(input: { id: "Ana", name: "Capital" }) { person { name } }'],
  ])('answers %s to %s', async (code, write) => {
    const { errors } = await doors.graphql('admin', `mutation { ${write} }`);
    expect(errors?.[0]?.extensions.code).toBe(code);
  });
});
