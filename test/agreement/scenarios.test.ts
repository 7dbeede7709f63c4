import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDoorsRig, type Doors } from '../support/doors.ts';
import { arrange, rowsOf, STATES } from './states.ts';
import { documentOf, fromGraphql, fromRest, VERBS } from './verbs.ts';

/** Every verb in every state by every caller, through both doors: the same outcome, the same words, the same rows. */
const CALLERS = ['ana', 'ana-two', 'bo'];

let doors: Doors;
beforeAll(async () => {
  doors = await createDoorsRig();
});
afterAll(() => doors.close());

describe.each(Object.keys(STATES))('%s', (state) => {
  it.each(Object.entries(VERBS))('%s', async (_name, { rest, graphql }) => {
    for (const who of CALLERS) {
      const [byRest, byGraphql] = [
        await arrange(doors, STATES[state] ?? {}),
        await arrange(doors, STATES[state] ?? {}),
      ];
      const input = { nodeId: byGraphql, ...graphql.input };
      const one = await doors.rest(who, 'POST', `/v1/nodes/${byRest}/${rest.path}`, rest.body);
      const other = await doors.graphql(who, documentOf(graphql.field), { input });
      const said = (answer: unknown, id: string) => JSON.stringify(answer, null, 1).replaceAll(id, '<id>');
      expect(said(fromGraphql(other), byGraphql)).toBe(said(fromRest(one), byRest));
      expect(await rowsOf(doors, byGraphql)).toBe(await rowsOf(doors, byRest));
    }
  });
});

describe.each(['n-none', 'No Id', 'n\u0000', 'é', `n${'x'.repeat(200)}`])('on %j, which is no node', (id) => {
  it.each(Object.entries(VERBS))('%s', async (_name, { rest, graphql }) => {
    const one = await doors.rest('ana', 'POST', `/v1/nodes/${encodeURIComponent(id)}/${rest.path}`, rest.body);
    const other = await doors.graphql('ana', documentOf(graphql.field), { input: { nodeId: id, ...graphql.input } });
    expect(fromGraphql(other)).toEqual(fromRest(one));
    expect(one.status).toBeGreaterThanOrEqual(404);
  });
});

it('the table is whole: every state of a lease, every verb and every refusal of theirs was met', async () => {
  const kinds = await doors.database.sql<{ kind: string }>('SELECT DISTINCT kind FROM lease_event ORDER BY kind');
  const met = [
    'CLAIMED',
    'EXPIRED',
    'EXTENDED',
    'REBOUND',
    'RECLAIMED',
    'RELEASED',
    'RESERVED',
    'RESUMED',
    'STATUS_CHANGED',
    'SUPERSEDED',
  ];
  expect(kinds.map(({ kind }) => kind)).toEqual(met);
});
