import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTenant } from '../../src/identity/tenants.ts';
import { createDoorsRig, type Doors } from '../support/doors.ts';
import { connectTo } from '../support/rig.ts';

let doors: Doors;
beforeAll(async () => {
  doors = await createDoorsRig();
});
afterAll(() => doors.close());

/** The code of the one error, or the data. */
async function ask(who: string, document: string, variables?: object) {
  const { data, errors } = await doors.graphql(who, document, variables as Record<string, unknown>);
  return errors === undefined ? data : errors[0].extensions.code;
}

const POLICY = '{ claimTtlMs claimTtlMaxMs reserveGraceMs bulkMax heldMax }';
const setPolicy = (input: string) => ask('admin', `mutation { setPolicy(input: { ${input} }) { policy ${POLICY} } }`);

describe('policy', () => {
  const DEFAULTS = {
    claimTtlMs: 2_700_000,
    claimTtlMaxMs: 28_800_000,
    reserveGraceMs: 172_800_000,
    bulkMax: 1000,
    heldMax: 10_000,
  };

  it('has the defaults of the contract, and anyone may read it', async () => {
    expect(await ask('bo', `{ policy ${POLICY} }`)).toEqual({ policy: DEFAULTS });
  });

  it("lets a project's value win, up or down, and null take it away", async () => {
    await setPolicy('claimTtlMs: 60000');
    await setPolicy('project: "p1", claimTtlMs: 120000, reserveGraceMs: 1000');
    expect(await ask('bo', `{ policy(project: "p1") ${POLICY} }`)).toEqual({
      policy: { ...DEFAULTS, claimTtlMs: 120_000, reserveGraceMs: 1_000 },
    });
    expect(await setPolicy('project: "p1", claimTtlMs: null')).toEqual({
      setPolicy: { policy: { ...DEFAULTS, claimTtlMs: 60_000, reserveGraceMs: 1_000 } },
    });
    expect(await ask('bo', `{ policy(project: "p2") ${POLICY} }`)).toEqual({
      policy: { ...DEFAULTS, claimTtlMs: 60_000 },
    });
    await setPolicy('claimTtlMs: null');
    await setPolicy('project: "p1", reserveGraceMs: null');
    expect(await ask('bo', `{ policy(project: "p1") ${POLICY} }`)).toEqual({ policy: DEFAULTS });
  });

  it('never moves the end of a lease already granted', async () => {
    const id = await doors.node();
    const { body } = await doors.rest('ana', 'POST', `/v1/nodes/${id}/claim`);
    await setPolicy('claimTtlMs: 1000');
    expect((await doors.rest('bo', 'GET', `/v1/nodes/${id}`)).body.lease.expires).toBe(body.lease.expires);
    expect((await doors.rest('ana', 'POST', `/v1/nodes/${id}/renew`)).body.lease.expires).toBe(body.lease.expires);
    await setPolicy('claimTtlMs: null');
  });

  it.each([
    'claimTtlMs: 999',
    'claimTtlMs: 7776000001',
    'claimTtlMs: -1',
    'reserveGraceMs: 0',
    'claimTtlMs: 28800001',
    'claimTtlMaxMs: 2699999',
    'project: "p9", claimTtlMaxMs: 1000',
    'project: "", claimTtlMs: 60000',
    'project: "p\\u0000", claimTtlMs: 60000',
    'bulkMax: 0',
    'bulkMax: 10001',
    'heldMax: 0',
    'project: "p1", bulkMax: 10',
    'project: "p1", heldMax: null',
  ])('refuses %s and changes nothing', async (input) => {
    const before = await doors.database.sql('SELECT * FROM policy ORDER BY project');
    expect(await setPolicy(input)).toBe('INVALID_INPUT');
    expect(await doors.database.sql('SELECT * FROM policy ORDER BY project')).toEqual(before);
  });

  it('refuses a change of the tenant that would leave a project with a lease above its ceiling', async () => {
    await setPolicy('project: "long", claimTtlMs: 20000000');
    expect(await setPolicy('claimTtlMaxMs: 10000000')).toBe('INVALID_INPUT');
    expect(await setPolicy('project: "long", claimTtlMs: null')).toMatchObject({ setPolicy: {} });
  });

  it('bounds the lists of a call and the leases of a person', async () => {
    await setPolicy('bulkMax: 2, heldMax: 2');
    const ids = await doors.nodes(3);
    expect((await doors.rest('cleo', 'POST', '/v1/queue/claim', { ids })).status).toBe(422);
    expect((await doors.rest('cleo', 'POST', '/v1/queue/claim', { ids: ids.slice(0, 2) })).body.count).toBe(2);
    const third = await doors.rest('cleo', 'POST', `/v1/nodes/${ids[2]}/claim`);
    expect(third).toMatchObject({ status: 409, body: { error: { code: 'limit_reached', details: { limit: 2 } } } });
    expect((await doors.rest('cleo', 'POST', `/v1/nodes/${ids[0]}/renew`)).status).toBe(200);
    await setPolicy('bulkMax: null, heldMax: null');
  });

  it('is for admins to set', async () => {
    expect(await ask('ana', 'mutation { setPolicy(input: { claimTtlMs: 1000 }) { policy { bulkMax } } }')).toBe(
      'FORBIDDEN',
    );
  });
});

describe('breaking a lease', () => {
  const BREAK = `mutation ($id: ID!, $reason: String) {
    breakLease(input: { nodeId: $id, reason: $reason }) { nodeId lease { by { personId } fence } }
  }`;

  it('ends it at once, edge included, and tells why', async () => {
    const id = await doors.node();
    await doors.rest('ana', 'POST', `/v1/nodes/${id}/claim`);
    expect(await ask('admin', BREAK, { id, reason: 'gone home' })).toEqual({
      breakLease: { nodeId: id, lease: { by: { personId: 'ana' }, fence: '1' } },
    });
    expect((await doors.rest('bo', 'GET', `/v1/nodes/${id}`)).body).toMatchObject({ edges: [] });
    const history = 'SELECT kind, holder, actor_person, reason FROM lease_event WHERE node_id = $1 ORDER BY seq';
    expect(await doors.database.sql(history, id)).toMatchObject([
      { kind: 'CLAIMED' },
      { kind: 'BROKEN', holder: 'ana', actor_person: 'admin', reason: 'gone home' },
    ]);
    expect(await ask('admin', BREAK, { id })).toEqual({ breakLease: { nodeId: id, lease: null } });
    expect((await doors.rest('bo', 'POST', `/v1/nodes/${id}/claim`)).body.lease.fence).toBe('2');
  });

  it('is for admins, of nodes that are there', async () => {
    const id = await doors.node();
    expect(await ask('ana', BREAK, { id })).toBe('FORBIDDEN');
    expect(await ask('admin', BREAK, { id: 'n-none' })).toBe('NOT_FOUND');
    expect(await ask('admin', BREAK, { id, reason: 'a\nb' })).toBe('INVALID_INPUT');
    expect(await ask('admin', BREAK, { id: 'N' })).toBe('INVALID_INPUT');
  });
});

describe('edges by hand', () => {
  const edge = (verb: string, from: string, type: string, to: string) =>
    ask('admin', `mutation { ${verb}(input: { from: "${from}", type: "${type}", to: "${to}" }) { edge revision } }`);

  it('are written once and taken away once', async () => {
    const id = await doors.node();
    expect(await edge('addEdge', id, 'blocks', 'n-later')).toEqual({ addEdge: { edge: 'ADDED', revision: '2' } });
    expect(await edge('addEdge', id, 'blocks', 'n-later')).toEqual({ addEdge: { edge: 'SKIPPED', revision: '2' } });
    expect(await ask('bo', `{ workNode(nodeId: "${id}") { edges { type to } } }`)).toEqual({
      workNode: { edges: [{ type: 'blocks', to: 'n-later' }] },
    });
    expect(await edge('removeEdge', id, 'blocks', 'n-later')).toEqual({
      removeEdge: { edge: 'REMOVED', revision: '3' },
    });
    expect(await edge('removeEdge', id, 'blocks', 'n-later')).toEqual({
      removeEdge: { edge: 'SKIPPED', revision: '3' },
    });
  });

  it('leave the assigned edge of a lease in force', async () => {
    const id = await doors.node();
    await doors.rest('ana', 'POST', `/v1/nodes/${id}/claim`);
    expect(await edge('removeEdge', id, 'assigned', 'ana')).toBe('CONFLICT');
    expect(await edge('addEdge', 'n-none', 'blocks', 'x')).toBe('NOT_FOUND');
    expect(await edge('addEdge', id, 'No Such', 'x')).toBe('INVALID_INPUT');
    expect(await edge('addEdge', id, 'blocks', 'X')).toBe('INVALID_INPUT');
  });
});

describe('people, agents and tokens', () => {
  it('are listed by pages, and never a secret', async () => {
    const first = await ask('admin', '{ people(first: 2) { nodes { personId } pageInfo { hasNextPage endCursor } } }');
    expect(first.people).toMatchObject({
      nodes: [{ personId: 'admin' }, { personId: 'ana' }],
      pageInfo: { hasNextPage: true },
    });
    const rest = await ask('admin', `{ people(after: "${first.people.pageInfo.endCursor}") { nodes { personId } } }`);
    expect(rest.people.nodes.map(({ personId }: { personId: string }) => personId)).toEqual(['bo', 'cleo', 'dan']);
    expect(await ask('admin', '{ agents(ownerId: "ana") { nodes { agentId owner { name } } } }')).toEqual({
      agents: {
        nodes: [
          { agentId: 'ana-one', owner: { name: 'Ana' } },
          { agentId: 'ana-two', owner: { name: 'Ana' } },
        ],
      },
    });
    const tokens = await ask(
      'admin',
      '{ tokens(personId: "bo") { nodes { tokenId isAdmin agent { agentId } person { personId } revokedAt } } }',
    );
    expect(tokens.tokens.nodes).toMatchObject([
      { isAdmin: false, agent: null, person: { personId: 'bo' }, revokedAt: null },
    ]);
    expect(JSON.stringify(tokens)).not.toContain(doors.token('bo').slice(-20));
  });

  it.each(['people', 'agents', 'tokens'])('%s are for admins', async (list) => {
    expect(await ask('ana', `{ ${list} { pageInfo { hasNextPage } } }`)).toBe('FORBIDDEN');
  });

  it('a disabled person and their agents are shut out, and their leases run out by themselves', async () => {
    const id = await doors.node();
    await doors.rest('dan', 'POST', `/v1/nodes/${id}/claim`);
    expect(await ask('admin', 'mutation { disablePerson(input: { id: "dan" }) { person { name } } }')).toEqual({
      disablePerson: { person: { name: 'Dan' } },
    });
    expect((await doors.rest('dan', 'GET', '/v1/me')).status).toBe(401);
    expect((await doors.rest('bo', 'POST', `/v1/nodes/${id}/claim`)).status).toBe(409);
    expect(await ask('admin', 'mutation { disablePerson(input: { id: "nobody" }) { person { name } } }')).toBe(
      'NOT_FOUND',
    );
  });
});

describe('tenants', () => {
  const CREATE = 'mutation { createTenant(input: { id: "initech", name: "Initech" }) { token } }';

  it('are made by an operator, with an admin of their own who sees nothing of others', async () => {
    expect(await ask('admin', CREATE)).toBe('FORBIDDEN');
    const clients = connectTo(doors.database.url, 2);
    doors.introduce('operator', await createTenant(clients.reads, { id: 'local', name: 'Local' }));
    await clients.close();
    const { createTenant: made } = await ask('operator', CREATE);
    doors.introduce('milton', made.token);
    expect(await ask('milton', '{ viewer { isAdmin person { personId } } people { nodes { personId } } }')).toEqual({
      viewer: { isAdmin: true, person: { personId: 'admin' } },
      people: { nodes: [{ personId: 'admin' }] },
    });
    expect(await ask('operator', CREATE)).toBe('ALREADY_EXISTS');
    expect(await ask('milton', CREATE.replace('initech', 'other'))).toBe('FORBIDDEN');
    expect(await ask('operator', CREATE.replace('initech', 'In it'))).toBe('INVALID_INPUT');
  });
});
