import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDoorsRig, type Doors } from '../support/doors.ts';

let doors: Doors;
let ids: string[];
beforeAll(async () => {
  doors = await createDoorsRig();
  ids = [...(await doors.nodes(3)), ...(await doors.nodes(2, { project: 'p2' }))];
  const [a, b, c, d, e] = ids;
  await doors.rest('ana', 'POST', `/v1/nodes/${a}/claim`, { session: 's1' });
  await doors.pass(1_000);
  await doors.rest('ana-one', 'POST', `/v1/nodes/${b}/claim`);
  await doors.pass(1_000);
  await doors.rest('bo', 'POST', `/v1/nodes/${c}/reserve`);
  await doors.pass(1_000);
  await doors.rest('bo', 'POST', '/v1/queue/claim', { ids: [d, e] });
});
afterAll(() => doors.close());

async function listed(query: string): Promise<string[]> {
  const { status, body } = await doors.rest('cleo', 'GET', `/v1/leases${query}`);
  expect(status).toBe(200);
  return body.leases.map(({ node_id }: { node_id: string }) => node_id);
}

describe('GET /v1/leases', () => {
  it.each<[string, number[]]>([
    ['', [0, 1, 2, 3, 4]],
    ['?person=ana', [0, 1]],
    ['?person=an%25', []],
    ['?agent=ana-one', [1]],
    ['?session=s1', [0]],
    ['?session=s%00', []],
    ['?project=p2', [3, 4]],
    ['?reserved=true', [2]],
    ['?reserved=false&person=bo', [3, 4]],
    ['?expiring_within_ms=2697000', [0]],
    ['?expiring_within_ms=1e300', [0, 1, 2, 3, 4]],
    ['?limit=2', [0, 1]],
    ['?limit=9999', [0, 1, 2, 3, 4]],
    ['?unknown=1', [0, 1, 2, 3, 4]],
  ])('%s lists %j', async (query, places) => {
    expect(await listed(query)).toEqual(places.map((place) => ids[place]));
  });

  it('lists one node, and comes by pages', async () => {
    expect(await listed(`?node=${ids[3]}`)).toEqual([ids[3]]);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await doors.rest('cleo', 'GET', `/v1/leases?limit=2${cursor}`);
      seen.push(...body.leases.map(({ node_id }: { node_id: string }) => node_id));
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
    } while (cursor !== '');
    expect(seen).toEqual(ids);
  });

  it.each([
    ['?limit=0', 'limit'],
    ['?limit=many', 'limit'],
    ['?limit=1.5', 'limit'],
    ['?reserved=perhaps', 'reserved'],
    ['?expiring_within_ms=-1', 'expiring_within_ms'],
    ['?expiring_within_ms=soon', 'expiring_within_ms'],
    ['?cursor=nonsense', 'cursor'],
    ['?person=ana&person=bo', 'person'],
  ])('%s is the mistake of %s', async (query, field) => {
    const answer = await doors.rest('cleo', 'GET', `/v1/leases${query}`);
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'invalid_input', details: { field } } } });
  });

  it('shows nothing of another tenant', async () => {
    expect((await doors.rest('zoe', 'GET', '/v1/leases')).body).toEqual({ leases: [], next_cursor: null });
  });
});

describe('edges by hand', () => {
  const edge = { type: 'blocks', to: 'n-later' };

  it('are written once and taken away once', async () => {
    const path = `/v1/nodes/${await doors.node()}/edges`;
    const id = path.split('/')[3];
    expect((await doors.rest('admin', 'POST', path, edge)).body).toEqual({ status: 'updated', id, revision: '2' });
    expect((await doors.rest('admin', 'POST', path, edge)).body).toEqual({ status: 'skipped', id, revision: '2' });
    expect((await doors.rest('bo', 'GET', `/v1/nodes/${id}`)).body).toMatchObject({ edges: [edge], revision: '2' });
    expect((await doors.rest('admin', 'DELETE', path, edge)).body).toEqual({ status: 'updated', id, revision: '3' });
    expect((await doors.rest('admin', 'DELETE', path, edge)).body).toEqual({ status: 'skipped', id, revision: '3' });
  });

  it('leave the assigned edge of a lease in force', async () => {
    const answer = await doors.rest('admin', 'DELETE', `/v1/nodes/${ids[0]}/edges`, { type: 'assigned', to: 'ana' });
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict' }, holder: { by: 'ana' } } });
  });

  it.each([
    ['ana', 'n-none', edge, 403, 'forbidden'],
    ['admin', 'n-none', edge, 404, 'not_found'],
    ['admin', 'N', edge, 422, 'invalid_input'],
    ['admin', 'n-none', { type: 'No Such', to: 'x' }, 422, 'invalid_input'],
    ['admin', 'n-none', { type: 'blocks', to: 'X' }, 422, 'invalid_input'],
    ['admin', 'n-none', { type: 'blocks' }, 422, 'invalid_input'],
  ])('by %s on %s with %j answer %i', async (who, id, body, status, code) => {
    for (const method of ['POST', 'DELETE']) {
      expect(await doors.rest(who, method, `/v1/nodes/${id}/edges`, body)).toMatchObject({
        status,
        body: { error: { code } },
      });
    }
  });
});

describe('POST /v1/nodes/{id}/break', () => {
  it("ends another's lease at once, and is safe to repeat", async () => {
    const id = await doors.node();
    await doors.rest('ana', 'POST', `/v1/nodes/${id}/claim`);
    const broken = await doors.rest('admin', 'POST', `/v1/nodes/${id}/break`, { reason: 'gone home' });
    expect(broken.body).toMatchObject({
      ok: true,
      status: 'broken',
      node_id: id,
      lease: { by: 'ana', by_name: 'Ana', fence: '1' },
    });
    expect((await doors.rest('bo', 'GET', `/v1/nodes/${id}`)).body).toMatchObject({ edges: [] });
    expect((await doors.rest('admin', 'POST', `/v1/nodes/${id}/break`)).body).toEqual({
      ok: true,
      status: 'broken',
      node_id: id,
    });
    expect((await doors.rest('ana', 'POST', `/v1/nodes/${id}/renew`, { fence: '1' })).body.error.code).toBe(
      'lease_lost',
    );
  });

  it.each([
    ['bo', undefined, {}, 403, 'forbidden'],
    ['admin', 'n-none', {}, 404, 'not_found'],
    ['admin', undefined, { reason: '' }, 422, 'invalid_input'],
    ['admin', undefined, { reason: 'x'.repeat(1_001) }, 422, 'invalid_input'],
    ['admin', undefined, { reason: 7 }, 422, 'invalid_input'],
  ])('by %s on %s with %j answers %i', async (who, id, body, status, code) => {
    const answer = await doors.rest(who, 'POST', `/v1/nodes/${id ?? ids[0]}/break`, body);
    expect(answer).toMatchObject({ status, body: { error: { code } } });
  });

  it('is not for nodes without a lease', async () => {
    const id = await doors.node({ type: 'note' });
    const answer = await doors.rest('admin', 'POST', `/v1/nodes/${id}/break`);
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'invalid_node' } } });
  });
});
