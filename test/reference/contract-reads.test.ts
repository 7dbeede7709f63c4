import { describe, expect, it } from 'vitest';
import { eachDoor, useDoors } from '../support/both-doors.ts';
import { ORIGIN } from '../support/doors.ts';

/** Reads, nodes, errors and the setting up of people, as the contract has them. */
const doors = useDoors();
const both = eachDoor(doors);

describe('who calls', () => {
  it('is told by /v1/me', async () => {
    const ana = { person: 'ana', name: 'Ana', email: 'ana@acme.test', bound: true, is_admin: false, org: 'acme' };
    expect((await doors().rest('ana', 'GET', '/v1/me')).body).toEqual(ana);
    expect((await doors().rest('ana-one', 'GET', '/v1/me')).body).toEqual(ana);
    expect((await doors().rest('admin', 'GET', '/v1/me')).body).toMatchObject({ person: 'admin', is_admin: true });
  });

  it('is told by viewer', async () => {
    const document = '{ viewer { person { personId name email } agent { agentId owner { personId } } isAdmin } }';
    const person = { personId: 'ana', name: 'Ana', email: 'ana@acme.test' };
    expect((await doors().graphql('ana', document)).data.viewer).toEqual({ person, agent: null, isAdmin: false });
    expect((await doors().graphql('ana-two', document)).data.viewer).toEqual({
      person,
      agent: { agentId: 'ana-two', owner: { personId: 'ana' } },
      isAdmin: false,
    });
  });

  it('reads the clock of the database as serverTime', async () => {
    const { data } = await doors().graphql('ana', '{ serverTime }');
    expect(data.serverTime).toBe(new Date(doors().now).toISOString());
  });
});

describe('nodes', () => {
  const full = {
    type: 'task',
    title: 'Retry the mails',
    status: 'open',
    project: 'p1',
    priority: 'p2',
    summary: 'Some were lost.',
    body: 'They *were*.',
    date: '2030-01-02',
    needed_by: '2030-02-03',
    extra: { estimate: 3 },
    edges: [{ type: 'blocks', to: 'other-task' }],
    steward_ids: ['bo'],
  };

  it('are made by POST /v1/nodes, which answers each, always 200', async () => {
    const { status, body } = await doors().rest('admin', 'POST', '/v1/nodes', {
      nodes: [{ id: 'full', ...full }, { id: 'bare', type: 'note' }, { id: 'full', ...full }, { id: 'No Id' }, 5],
    });
    expect(status).toBe(200);
    expect(body.results).toEqual([
      { id: 'full', status: 'created' },
      { id: 'bare', status: 'created' },
      { id: 'full', status: 'failed', error: expect.stringContaining('exists already') },
      { id: 'No Id', status: 'failed', error: expect.stringContaining('type') },
      { id: null, status: 'failed', error: expect.any(String) },
    ]);
  });

  it('are read whole by GET /v1/nodes/{id}', async () => {
    await doors().rest('admin', 'POST', '/v1/nodes', { nodes: [{ id: 'whole', ...full }] });
    await doors().rest('ana', 'POST', '/v1/nodes/whole/claim', {});
    const { body } = await doors().rest('bo', 'GET', '/v1/nodes/whole');
    const { edges, steward_ids, extra, body: text, ...fields } = full;
    expect(body).toMatchObject({ id: 'whole', revision: '1', frontmatter: { id: 'whole', ...fields, ...extra } });
    expect(body.edges).toEqual([{ type: 'assigned', to: 'ana' }, ...edges]);
    expect(body.lease).toMatchObject({ by: 'ana', by_name: 'Ana' });
    expect(body.raw).toMatch(/^---\n[\s\S]*^status: open$[\s\S]*\n---\n[\s\S]*They \*were\*\./m);
    expect(steward_ids).toEqual(['bo']);
    expect(text).toBe(full.body);
  });

  it('may be skipped or updated where they exist', async () => {
    const put = async (title: string, if_exists: string) =>
      (await doors().rest('admin', 'POST', '/v1/nodes', { nodes: [{ id: 'put', type: 'task', title }], if_exists }))
        .body.results[0].status;
    const revision = async () => (await doors().rest('ana', 'GET', '/v1/nodes/put')).body.revision;
    expect(await put('a', 'skip')).toBe('created');
    expect(await put('b', 'skip')).toBe('skipped');
    expect([await put('b', 'update'), await revision()]).toEqual(['updated', '2']);
    expect([await put('b', 'update'), await revision()]).toEqual(['skipped', '2']);
    expect(await put('c', 'fail')).toBe('failed');
  });

  it('of type person make the person too', async () => {
    const nodes = [{ id: 'eve', type: 'person', title: 'Eve', extra: { email: 'eve@acme.test' } }];
    await doors().rest('admin', 'POST', '/v1/nodes', { nodes });
    const made = await doors().graphql('admin', 'mutation { createToken(input: { personId: "eve" }) { token } }');
    doors().introduce('eve', made.data.createToken.token);
    expect((await doors().rest('eve', 'GET', '/v1/me')).body).toMatchObject({ name: 'Eve', email: 'eve@acme.test' });
  });

  it('are made by createWorkNodes in the same way', async () => {
    const document = `mutation ($nodes: [WorkNodeInput!]!, $ifExists: IfExists) {
      createWorkNodes(input: { nodes: $nodes, ifExists: $ifExists }) { results { id status error } } }`;
    const { needed_by: neededBy, steward_ids: stewardIds, ...rest } = full;
    const nodes = [
      { id: 'by-graphql', ...rest, neededBy, stewardIds },
      { id: 'No Id', type: 'task' },
    ];
    const make = async (ifExists: string) =>
      (await doors().graphql('admin', document, { nodes, ifExists })).data.createWorkNodes.results;
    const failed = { id: 'No Id', status: 'FAILED', error: expect.stringContaining('id') };
    expect(await make('FAIL')).toEqual([{ id: 'by-graphql', status: 'CREATED', error: null }, failed]);
    expect(await make('SKIP')).toEqual([{ id: 'by-graphql', status: 'SKIPPED', error: null }, failed]);
    const { body } = await doors().rest('ana', 'GET', '/v1/nodes/by-graphql');
    expect(body.frontmatter).toMatchObject({ needed_by: full.needed_by, estimate: 3 });
  });

  both('without a status are open', async (verbs, rig) => {
    expect(await verbs.read('ana', await rig.node({ status: null }))).toMatchObject({ status: 'open' });
  });

  it('are for admin tokens to make', async () => {
    const nodes = [{ id: 'by-ana', type: 'task' }];
    const { status, body } = await doors().rest('ana', 'POST', '/v1/nodes', { nodes });
    expect([status, body.error.code]).toEqual([403, 'forbidden']);
    const { errors } = await doors().graphql(
      'ana',
      'mutation ($nodes: [WorkNodeInput!]!) { createWorkNodes(input: { nodes: $nodes }) { results { id } } }',
      { nodes },
    );
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
  });
});

describe('errors over REST', () => {
  const post = (path: string, body: string, type?: string) =>
    doors().fetch(
      new Request(ORIGIN + path, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${doors().token('ana')}`,
          ...(type !== undefined && { 'Content-Type': type }),
        },
        body: new TextEncoder().encode(body),
      }),
    );

  it.each([
    ['no JSON', '{', 'application/json', 400, 'invalid_json'],
    ['a form', 'a=b', 'application/x-www-form-urlencoded', 415, 'unsupported_media_type'],
    ['a list', '[]', 'application/json', 422, 'invalid_input'],
    ['null', 'null', 'application/json', 422, 'invalid_input'],
    ['text', '"x"', 'application/json', 422, 'invalid_input'],
    ['over a mebibyte', `{"a":"${'x'.repeat(1_048_576)}"}`, 'application/json', 413, 'too_large'],
  ])('a body of %s', async (_, body, type, status, code) => {
    const answer = await post(`/v1/nodes/${await doors().node()}/claim`, body, type);
    expect([answer.status, await answer.json()]).toMatchObject([
      status,
      { error: { code, message: expect.any(String) } },
    ]);
  });

  it.each([
    ['without content type', '{"session":"s1"}', undefined, 's1'],
    ['with a charset', '{"session":"s1"}', 'application/json; charset=utf-8', 's1'],
    ['that is empty', '', undefined, null],
    ['with unknown fields', '{"session":"s1","more":{"x":1}}', 'application/json', 's1'],
    ['of exactly a mebibyte', `{"session":"s1","a":"${'x'.repeat(1_048_576 - 23)}"}`, 'application/json', 's1'],
  ])('none for a body %s', async (_, body, type, session) => {
    const answer = await post(`/v1/nodes/${await doors().node()}/claim`, body, type);
    expect([answer.status, await answer.json()]).toMatchObject([200, { lease: { session } }]);
  });

  it('a held 409 carries Retry-After in whole seconds, at least one', async () => {
    const node = await doors().node();
    await doors().rest('ana', 'POST', `/v1/nodes/${node}/claim`, {});
    const retryAfter = async () =>
      (await doors().rest('bo', 'POST', `/v1/nodes/${node}/claim`, {})).headers.get('Retry-After');
    expect(await retryAfter()).toBe('2700');
    await doors().pass(2_699_999);
    expect(await retryAfter()).toBe('1');
  });

  it('what is not there is 404 in the same envelope', async () => {
    for (const path of ['/v1/nothing', '/v1/nodes/no-such-node']) {
      const { status, body } = await doors().rest('ana', 'GET', path);
      expect([status, body.error.code]).toEqual([404, 'not_found']);
    }
  });

  it('a malformed id is told before anything is looked up', async () => {
    const { status, body } = await doors().rest('ana', 'GET', '/v1/nodes/No%20Id');
    expect([status, body.error.code]).toEqual([422, 'invalid_input']);
  });
});

describe('errors over GraphQL', () => {
  it.each([
    ['a document that does not parse', '{ viewer', {}, 'GRAPHQL_PARSE_FAILED'],
    ['an unknown field', '{ nothing }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'a variable of the wrong form',
      'query ($id: ID!) { lease(nodeId: $id) { fence } }',
      { id: true },
      'INVALID_INPUT',
    ],
    ['a global id of the wrong form', '{ node(id: "rubbish") { id } }', {}, 'INVALID_INPUT'],
  ])('%s has a code', async (_, document, variables, code) => {
    const { errors } = await doors().graphql('ana', document, variables);
    expect(errors).toMatchObject([{ message: expect.any(String), extensions: { code } }]);
  });

  it('refusals are never among them', async () => {
    const { errors, data } = await doors().graphql(
      'ana',
      'mutation { claimLease(input: { nodeId: "no-such-node" }) { __typename ... on Refusal { code nodeId } } }',
    );
    expect(errors).toBeUndefined();
    expect(data.claimLease).toEqual({ __typename: 'NodeNotFound', code: 'NOT_FOUND', nodeId: 'no-such-node' });
  });
});
