import { afterAll, beforeAll, expect, it } from 'vitest';
import { countStatements } from '../support/count-statements.ts';
import { createDoorsRig, type Doors } from '../support/doors.ts';

let doors: Doors;
beforeAll(async () => {
  doors = await createDoorsRig();
  const ids = await doors.nodes(100);
  for (const [index, who] of ['ana', 'bo', 'cleo', 'dan'].entries()) {
    await doors.rest(who, 'POST', '/v1/queue/claim', { ids: ids.filter((_, place) => place % 4 === index) });
  }
  await doors.rest('ana', 'GET', '/v1/me');
});
afterAll(() => doors.close());

/** Statements on the connections of reads, without the one that finds the caller's token. */
async function readsOf(document: string): Promise<number> {
  const count = await countStatements(async () => {
    const { errors } = await doors.graphql('admin', document);
    expect(errors).toBeUndefined();
  }, 'holdfast-reads');
  return count.others - 1;
}

const LEASE = 'lease { fence expiresAt by { name } }';

it.each([
  [
    'a board of nodes',
    `{ workNodes(first: 100) { nodes { nodeId title ${LEASE} assignees { name } edges { to } } } }`,
    6,
  ],
  ['a list of leases', '{ leases(first: 100) { nodes { fence by { name } agent { label } node { title } } } }', 3],
  ['what each person holds', '{ people { nodes { personId leases(first: 20) { nodes { nodeId fence } } } } }', 2],
  [
    'a bulk claim',
    `mutation { renewHeldLeases { results { ... on RenewLeaseSuccess { lease { by { name } } } } } }`,
    2,
  ],
])('%s costs the same number of statements at any length', async (_name, document, most) => {
  await readsOf(document);
  const count = await readsOf(document);
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThanOrEqual(most);
});

it('a total is counted only when it is asked for, and once', async () => {
  const without = await readsOf('{ leases(first: 5) { nodes { fence } } }');
  const withTotal = await readsOf('{ leases(first: 5) { nodes { fence } totalCount totalCountCapped } }');
  expect(withTotal).toBe(without + 1);
});
