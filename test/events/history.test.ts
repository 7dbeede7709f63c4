import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDoorsRig, type Doors } from '../support/doors.ts';

let doors: Doors;
let ids: string[];
let start: number;

/** Ana claims, extends, reserves and resumes; her lease is broken; bo takes the other through his status. */
beforeAll(async () => {
  doors = await createDoorsRig();
  ids = [await doors.node(), await doors.node({ project: 'p2' })];
  const [a, b] = ids;
  start = doors.now;
  const steps: [string, string, object][] = [
    ['ana-one', `/v1/nodes/${a}/claim`, { session: 's1' }],
    ['ana', `/v1/nodes/${a}/extend`, { ms: 1_000 }],
    ['ana', `/v1/nodes/${a}/reserve`, {}],
    ['ana', `/v1/nodes/${a}/claim`, {}],
    ['admin', `/v1/nodes/${a}/break`, { reason: 'gone home' }],
    ['bo', `/v1/nodes/${b}/status`, { status: 'in-progress' }],
    ['bo', `/v1/nodes/${b}/release`, {}],
  ];
  for (const [who, path, body] of steps) {
    await doors.pass(1_000);
    await doors.rest(who, 'POST', path, body);
  }
});
afterAll(() => doors.close());

const KINDS = ['CLAIMED', 'EXTENDED', 'RESERVED', 'RESUMED', 'BROKEN', 'STATUS_CHANGED', 'CLAIMED', 'RELEASED'];
const QUERY = `query ($after: String, $first: Int, $filter: LeaseEventFilter) {
  leaseEvents(after: $after, first: $first, filter: $filter) {
    nodes { seq at kind nodeId holder { personId } session fence actor { person { personId } agent { agentId } } expiresAt reserved status reason }
    edges { cursor } pageInfo { hasNextPage endCursor } gap { oldestSeq latestSeq }
  }
}`;

const kindsOf = (answer: { body: { events: { kind: string }[] } }) => answer.body.events.map(({ kind }) => kind);

describe('the history', () => {
  it('is gapless, in order, and the same by both doors', async () => {
    const rest = (await doors.rest('cleo', 'GET', '/v1/events')).body;
    const { leaseEvents } = (await doors.graphql('cleo', QUERY)).data;
    expect(rest.events.map(({ kind }: { kind: string }) => kind)).toEqual(KINDS);
    expect(rest.events.map(({ seq }: { seq: string }) => seq)).toEqual(KINDS.map((_, index) => String(index + 1)));
    expect(leaseEvents.edges.map(({ cursor }: { cursor: string }) => cursor)).toEqual(
      rest.events.map(({ seq }: { seq: string }) => seq),
    );
    for (const [index, event] of leaseEvents.nodes.entries()) {
      const { node_id, expires_at, actor, holder, reason, ...same } = rest.events[index];
      expect(event).toMatchObject({ ...same, nodeId: node_id, expiresAt: expires_at, reason: reason ?? null });
      expect(event.holder?.personId ?? null).toBe(holder);
      expect(event.actor).toEqual({
        person: { personId: actor.person },
        agent: actor.agent === null ? null : { agentId: actor.agent },
      });
    }
    expect(rest).toMatchObject({ next_after: '8', oldest_seq: '1', latest_seq: '8' });
    expect(rest).not.toHaveProperty('gap');
  });

  it('tells who, until when and why', async () => {
    const { events } = (await doors.rest('cleo', 'GET', '/v1/events')).body;
    expect(events[0]).toMatchObject({
      holder: 'ana',
      session: 's1',
      fence: '1',
      actor: { person: 'ana', agent: 'ana-one' },
    });
    expect(events[2]).toMatchObject({
      kind: 'RESERVED',
      reserved: true,
      expires_at: new Date(start + 3_000 + 172_800_000).toISOString(),
    });
    expect(events[4]).toMatchObject({ kind: 'BROKEN', holder: 'ana', actor: { person: 'admin' }, reason: 'gone home' });
    expect(events[5]).toMatchObject({
      kind: 'STATUS_CHANGED',
      holder: null,
      fence: null,
      status: 'in-progress',
      actor: { person: 'bo' },
    });
  });

  it.each([
    ['?after=6', ['CLAIMED', 'RELEASED']],
    ['?after=8', []],
    ['?kind=BROKEN', ['BROKEN']],
    ['?project=p2', ['STATUS_CHANGED', 'CLAIMED', 'RELEASED']],
    ['?limit=2', ['CLAIMED', 'EXTENDED']],
    ['?node=n-none', []],
  ])('GET /v1/events%s', async (query, kinds) => {
    expect(kindsOf((await doors.rest('cleo', 'GET', `/v1/events${query}`)) as never)).toEqual(kinds);
  });

  it.each([
    [{ personId: 'bo' }, ['STATUS_CHANGED', 'CLAIMED', 'RELEASED']],
    [{ personId: 'admin' }, ['BROKEN']],
    [{ session: 's1' }, ['CLAIMED', 'EXTENDED', 'RESERVED']],
    [{ kinds: ['CLAIMED', 'RELEASED'] }, ['CLAIMED', 'CLAIMED', 'RELEASED']],
    [{ kinds: [] }, []],
    [{ nodeIds: ['n\u0000'] }, []],
  ])('leaseEvents(filter: %j)', async (filter, kinds) => {
    const { data, errors } = await doors.graphql('cleo', QUERY, { filter });
    expect(errors).toBeUndefined();
    expect(data.leaseEvents.nodes.map(({ kind }: { kind: string }) => kind)).toEqual(kinds);
  });

  it('comes by pages on both doors, and the last cursor goes on from there', async () => {
    const seen: string[] = [];
    let after: string | null = null;
    for (;;) {
      const page: { nodes: { seq: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } } = (
        await doors.graphql('cleo', QUERY, { after, first: 3 })
      ).data.leaseEvents;
      seen.push(...page.nodes.map(({ seq }) => seq));
      after = page.pageInfo.endCursor;
      if (!page.pageInfo.hasNextPage) break;
    }
    expect(seen).toEqual(KINDS.map((_, index) => String(index + 1)));
    expect((await doors.graphql('cleo', QUERY, { after })).data.leaseEvents).toMatchObject({
      nodes: [],
      pageInfo: { endCursor: '8' },
    });
    const half = (await doors.rest('cleo', 'GET', '/v1/events?limit=5')).body;
    expect((await doors.rest('cleo', 'GET', `/v1/events?after=${half.next_after}`)).body.events).toHaveLength(3);
  });

  it.each(['', '-1', '1.5', 'x', '9', '99999999999999999999'])('refuses the cursor %j', async (after) => {
    const [rest] = await Promise.all([doors.rest('cleo', 'GET', `/v1/events?after=${after}`)]);
    expect(rest).toMatchObject({
      status: 422,
      body: { error: { code: 'invalid_input', details: { field: 'after' } } },
    });
    const { errors } = await doors.graphql('cleo', QUERY, { after });
    expect(errors).toMatchObject([{ extensions: { code: 'INVALID_CURSOR' } }]);
  });

  it('shows nothing of another tenant', async () => {
    expect((await doors.rest('zoe', 'GET', '/v1/events')).body).toEqual({
      events: [],
      next_after: '0',
      oldest_seq: '1',
      latest_seq: '0',
    });
  });
});

describe('holderAt', () => {
  async function holderAt(node: number, at: number) {
    const query =
      'query ($id: ID!, $at: DateTime!) { holderAt(nodeId: $id, at: $at) { known holder { personId } fence start } }';
    const { data } = await doors.graphql('cleo', query, { id: ids[node], at: new Date(start + at).toISOString() });
    const { known, holder, fence, start: from } = data.holderAt;
    return [known, holder?.personId ?? null, fence, from === null ? null : Date.parse(from) - start];
  }

  it.each([
    [0, 999, [false, null, null, null]],
    [0, 1_000, [true, 'ana', '1', 1_000]],
    [0, 4_999, [true, 'ana', '1', 1_000]],
    [0, 5_000, [true, null, null, null]],
    [1, 5_999, [true, null, null, null]],
    [1, 6_000, [true, 'bo', '1', 6_000]],
    [1, 7_000, [true, null, null, null]],
  ])('of node %i at %i ms is %j', async (node, at, told) => {
    expect(await holderAt(node, at)).toEqual(told);
  });

  it('ends with the lease when nothing told its end yet', async () => {
    const id = await doors.node();
    await doors.rest('cleo', 'POST', `/v1/nodes/${id}/claim`);
    const granted = doors.now - start;
    ids.push(id);
    expect(await holderAt(2, granted + 2_699_999)).toEqual([true, 'cleo', '1', granted]);
    expect(await holderAt(2, granted + 2_700_000)).toEqual([true, null, null, null]);
  });
});
