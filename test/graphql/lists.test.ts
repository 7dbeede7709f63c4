import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDoorsRig, type Doors } from '../support/doors.ts';

let doors: Doors;
let ids: string[];

/** Six leases a minute apart: ana's by two agents, bo's in another project, one reserved. */
beforeAll(async () => {
  doors = await createDoorsRig();
  ids = [...(await doors.nodes(4)), ...(await doors.nodes(2, { project: 'p2', type: 'issue' }))];
  const [a, b, c, d, e, f] = ids;
  await doors.rest('ana', 'POST', `/v1/nodes/${a}/claim`, { session: 's1' });
  await doors.pass(60_000);
  await doors.rest('ana-one', 'POST', `/v1/nodes/${b}/claim`, { session: 's' });
  await doors.pass(60_000);
  await doors.rest('ana-two', 'POST', `/v1/nodes/${c}/claim`);
  await doors.pass(60_000);
  await doors.rest('bo', 'POST', `/v1/nodes/${d}/reserve`);
  await doors.pass(60_000);
  await doors.rest('bo', 'POST', `/v1/nodes/${e}/claim`);
  await doors.pass(60_000);
  await doors.rest('bo', 'POST', `/v1/nodes/${f}/claim`);
  await doors.rest('ana', 'POST', `/v1/nodes/${a}/extend`, { ms: 3_600_000 });
});
afterAll(() => doors.close());

async function listed(args: string): Promise<string[]> {
  const { data, errors } = await doors.graphql('cleo', `{ leases${args} { nodes { nodeId } } }`);
  expect(errors).toBeUndefined();
  return data.leases.nodes.map(({ nodeId }: { nodeId: string }) => nodeId);
}

const at = (...places: number[]) => places.map((place) => ids[place] as string);

describe('leases', () => {
  it.each<[string, number[]]>([
    ['', [0, 1, 2, 3, 4, 5]],
    ['(orderBy: AGE)', [0, 1, 2, 3, 4, 5]],
    ['(orderBy: ENDS_AT)', [1, 2, 4, 5, 0, 3]],
    ['(filter: { personId: "ana" })', [0, 1, 2]],
    ['(filter: { personId: "an%" })', []],
    ['(filter: { personId: "cleo" })', []],
    ['(filter: { agentId: "ana-one" })', [1]],
    ['(filter: { session: "s" })', [1]],
    ['(filter: { session: "s\\u0000" })', []],
    ['(filter: { project: "p2" })', [4, 5]],
    ['(filter: { reserved: true })', [3]],
    ['(filter: { reserved: false, personId: "bo" })', [4, 5]],
    ['(filter: { expiringWithinMs: 2459999 })', []],
    ['(filter: { expiringWithinMs: 2460000 })', [1]],
    ['(filter: { expiringWithinMs: 2520000 })', [1, 2]],
    ['(filter: { expiringWithinMs: 1e300 })', [0, 1, 2, 3, 4, 5]],
    ['(filter: { personId: "bo", project: "p2", reserved: true })', []],
    ['(first: 2)', [0, 1]],
  ])('%s lists %j', async (args, places) => {
    expect(await listed(args)).toEqual(at(...places));
  });

  it('by node', async () => {
    expect(await listed(`(filter: { nodeIds: ${JSON.stringify([...at(2, 4), 'n-none'])} })`)).toEqual(at(2, 4));
    expect(await listed('(filter: { nodeIds: [] })')).toEqual([]);
  });

  it.each(['AGE', 'ENDS_AT'])('come by pages of any size, %s', async (order) => {
    const whole = await listed(`(orderBy: ${order})`);
    for (const size of [1, 2, 4, 5]) expect(await pages(`orderBy: ${order}, first: ${size}`)).toEqual(whole);
  });

  it('leave out what has lapsed, at the very instant', async () => {
    const id = await doors.node({ project: 'brief' });
    await doors.policy({ claim_ttl_ms: 1_000 }, 'brief');
    await doors.rest('ana', 'POST', `/v1/nodes/${id}/claim`);
    await doors.pass(999);
    expect(await listed('(filter: { project: "brief" })')).toEqual([id]);
    await doors.pass(1);
    expect(await listed('(filter: { project: "brief" })')).toEqual([]);
  });

  it.each([
    ['(first: 0)', 'first'],
    ['(after: "nonsense")', 'after'],
    [`(after: "${Buffer.from('["nodes","a"]').toString('base64url')}")`, 'after'],
    [`(after: "${Buffer.from('["leases AGE",1e300,0,"a"]').toString('base64url')}")`, 'after'],
    [`(after: "${Buffer.from('["leases AGE",1,1,"a\\u0000"]').toString('base64url')}")`, 'after'],
    ['(filter: { expiringWithinMs: -1 })', 'expiringWithinMs'],
  ])('%s is the mistake of %s', async (args, field) => {
    const { errors } = await doors.graphql('ana', `{ leases${args} { nodes { nodeId } } }`);
    expect(errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT', field } }]);
  });

  it('show at most a hundred at once', async () => {
    const many = await doors.nodes(120, { project: 'many' });
    await doors.rest('dan', 'POST', '/v1/queue/claim', { ids: many });
    expect(await listed('(filter: { project: "many" }, first: 5000)')).toHaveLength(100);
    const total = await doors.graphql(
      'ana',
      '{ leases(filter: { project: "many" }, first: 1) { totalCount totalCountCapped } }',
    );
    expect(total.data.leases).toEqual({ totalCount: 120, totalCountCapped: false });
    expect(new Set(await pages('filter: { project: "many" }, first: 7'))).toEqual(new Set(many));
    await doors.rest('dan', 'POST', '/v1/queue/release');
  });

  it('are complete and without repeats while verbs run beside them', async () => {
    const set = await doors.nodes(30, { project: 'busy' });
    await doors.rest('cleo', 'POST', '/v1/queue/claim', { ids: set });
    const kept = set.filter((_, index) => index % 3 !== 0);
    let turn = 0;
    const seen = await pages('filter: { project: "busy" }, first: 4', async () => {
      const moved = set[3 * turn++];
      if (moved === undefined || kept.includes(moved)) return;
      await doors.pass(1);
      await doors.rest('cleo', 'POST', `/v1/nodes/${moved}/release`);
      await doors.rest('cleo', 'POST', `/v1/nodes/${moved}/claim`);
      await doors.rest('cleo', 'POST', `/v1/nodes/${kept[turn]}/renew`);
    });
    expect(turn).toBeGreaterThan(5);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(kept));
  });
});

/** All pages of a list, with something done between them. */
async function pages(args: string, between: () => Promise<void> = async () => {}): Promise<string[]> {
  const seen: string[] = [];
  let after: string | null = null;
  do {
    const query = `query ($after: String) { leases(${args}, after: $after) { nodes { nodeId } pageInfo { hasNextPage endCursor } } }`;
    const { data, errors } = await doors.graphql('cleo', query, { after });
    expect(errors).toBeUndefined();
    seen.push(...data.leases.nodes.map(({ nodeId }: { nodeId: string }) => nodeId));
    after = data.leases.pageInfo.hasNextPage ? data.leases.pageInfo.endCursor : null;
    await between();
  } while (after !== null);
  return seen;
}
