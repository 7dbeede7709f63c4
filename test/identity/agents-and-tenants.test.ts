import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDoorsRig, type Doors } from '../support/doors.ts';
import { TENANT } from '../support/rig.ts';

let doors: Doors;
beforeAll(async () => {
  doors = await createDoorsRig();
});
afterAll(() => doors.close());

describe('an agent', () => {
  it('holds for its owner, and the lease names it', async () => {
    const id = await doors.node();
    const claim = await doors.rest('ana-one', 'POST', `/v1/nodes/${id}/claim`);
    expect(claim.body.lease).toMatchObject({ by: 'ana', by_name: 'Ana', agent: 'ana-one' });
    const query = '{ viewer { isAdmin person { personId } agent { agentId owner { name } } } }';
    expect((await doors.graphql('ana-one', query)).data.viewer).toEqual({
      isAdmin: false,
      person: { personId: 'ana' },
      agent: { agentId: 'ana-one', owner: { name: 'Ana' } },
    });
  });

  it('is one holder with the other agents of its owner: the last that called is named', async () => {
    const id = await doors.node();
    const first = await doors.rest('ana-one', 'POST', `/v1/nodes/${id}/claim`);
    const second = await doors.rest('ana-two', 'POST', `/v1/nodes/${id}/claim`);
    expect(second.body.lease).toMatchObject({ agent: 'ana-two', fence: first.body.lease.fence });
    const own = await doors.rest('ana', 'POST', `/v1/nodes/${id}/renew`);
    expect(own.body.lease).not.toHaveProperty('agent');
  });

  it('is refused on both doors when its owner is gone', async () => {
    const disable = 'UPDATE person SET disabled_at = holdfast_now() WHERE tenant_id = $1 AND person_id = $2';
    await doors.database.sql(disable, TENANT, 'ana');
    expect((await doors.rest('ana-one', 'GET', '/v1/me')).status).toBe(401);
    expect((await doors.graphql('ana-one', '{ serverTime }')).status).toBe(401);
    expect((await doors.rest('ana', 'GET', '/v1/me')).status).toBe(401);
    await doors.database.sql('UPDATE person SET disabled_at = NULL WHERE tenant_id = $1', TENANT);
    expect((await doors.rest('ana-one', 'GET', '/v1/me')).status).toBe(200);
  });

  it('is refused when it was given to another owner than its token has', async () => {
    const give = 'UPDATE agent SET owner_id = $2 WHERE tenant_id = $1 AND agent_id = $3';
    await doors.database.sql(give, TENANT, 'bo', 'ana-two');
    expect((await doors.rest('ana-two', 'GET', '/v1/me')).status).toBe(401);
    await doors.database.sql(give, TENANT, 'ana', 'ana-two');
  });
});

describe("another tenant's things look like things that do not exist", () => {
  it.each([
    ['claim', {}],
    ['renew', {}],
    ['renew', { fence: '1' }],
    ['extend', { ms: 1 }],
    ['reserve', {}],
    ['release', {}],
    ['status', { status: 'active' }],
    ['status', { status: 'no such word' }],
  ])('to %s %j', async (verb, body) => {
    const id = await doors.node();
    await doors.rest('ana', 'POST', `/v1/nodes/${id}/claim`);
    const there = await doors.rest('zoe', 'POST', `/v1/nodes/${id}/${verb}`, body);
    const nowhere = await doors.rest('zoe', 'POST', `/v1/nodes/n-nowhere/${verb}`, body);
    expect(there.status).toBe(404);
    expect(JSON.stringify(there.body).replaceAll(id, 'n-nowhere')).toBe(JSON.stringify(nowhere.body));
  });

  it('to a bulk claim and to a read', async () => {
    const id = await doors.node();
    const bulk = await doors.rest('zoe', 'POST', '/v1/queue/claim', { ids: [id, 'n-nowhere'] });
    expect(bulk.body).toMatchObject({ status: 'refused', failed: [{ code: 'not_found' }, { code: 'not_found' }] });
    expect((await doors.rest('zoe', 'GET', `/v1/nodes/${id}`)).status).toBe(404);
  });

  it('to GraphQL: not by id, not by global id', async () => {
    const id = await doors.node();
    await doors.rest('ana', 'POST', `/v1/nodes/${id}/claim`);
    const own = await doors.graphql(
      'ana',
      `{ workNode(nodeId: "${id}") { id } lease(nodeId: "${id}") { id by { id } } }`,
    );
    const ids: string[] = [own.data.workNode.id, own.data.lease.id, own.data.lease.by.id];
    const query = `query ($id: ID!, $ids: [ID!]!) {
      workNode(nodeId: $id) { title } lease(nodeId: $id) { fence } nodes(ids: $ids) { id }
    }`;
    const seen = await doors.graphql('ana', query, { id, ids });
    expect(seen.data.nodes).toEqual(ids.map((each) => ({ id: each })));
    const found = await doors.graphql('zoe', query, { id, ids });
    expect(found.data).toEqual({ workNode: null, lease: null, nodes: [null, null, null] });
  });

  it('and the same ids of two tenants are kept apart', async () => {
    const id = await doors.node();
    await doors.database.sql(
      `WITH made AS (INSERT INTO lease (tenant_id, node_id) VALUES ('globex', $1))
       INSERT INTO work_node (tenant_id, node_id, type, created_at, updated_at)
       VALUES ('globex', $1, 'task', holdfast_now(), holdfast_now())`,
      id,
    );
    const ana = await doors.rest('ana', 'POST', `/v1/nodes/${id}/claim`);
    const zoe = await doors.rest('zoe', 'POST', `/v1/nodes/${id}/claim`);
    expect([ana.body.lease.by, zoe.body.lease.by]).toEqual(['ana', 'zoe']);
    expect((await doors.rest('zoe', 'POST', '/v1/queue/release')).body.released).toEqual([id]);
    expect((await doors.rest('ana', 'GET', `/v1/nodes/${id}`)).body.lease.by).toBe('ana');
  });

  it('and a token next door can not be revoked', async () => {
    const find = `SELECT token_id FROM api_token WHERE tenant_id = 'globex'`;
    const [row] = await doors.database.sql<{ token_id: string }>(find);
    const revoke = 'mutation ($id: ID!) { revokeToken(input: { id: $id }) { id } }';
    const { errors } = await doors.graphql('admin', revoke, { id: row?.token_id });
    expect(errors?.[0]?.extensions.code).toBe('NOT_FOUND');
    expect((await doors.rest('zoe', 'GET', '/v1/me')).status).toBe(200);
  });
});
