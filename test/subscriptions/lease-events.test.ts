import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLiveRig, type LiveRig } from '../support/live-rig.ts';

let rig: LiveRig;
beforeAll(async () => {
  rig = await createLiveRig(1);
});
afterAll(() => rig.close());

const FOLLOW = `subscription ($after: String, $filter: LeaseEventFilter) {
  leaseEvents(after: $after, filter: $filter) {
    __typename
    ... on LeaseEvent { seq kind nodeId holder { personId } fence actor { person { personId } } }
    ... on LeaseEventCursor { cursor: seq }
    ... on LeaseEventGap { oldestSeq latestSeq }
  }
}`;

const call = async (who: string, path: string, body: object = {}, app = rig.apps[0]) => {
  const headers = { Authorization: `Bearer ${rig.doors.token(who)}`, 'Content-Type': 'application/json' };
  const answer = await fetch(`${app?.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await answer.json()) as { lease: { fence: string } };
};

describe('leaseEvents over WebSocket', () => {
  it('tells a cursor first, then what happens, in order', async () => {
    const id = await rig.doors.node();
    const events = rig.subscribe('cleo', FOLLOW);
    expect((await events.next()).data.leaseEvents).toMatchObject({ __typename: 'LeaseEventCursor' });
    await call('ana', `/v1/nodes/${id}/claim`);
    await call('ana', `/v1/nodes/${id}/reserve`);
    await call('ana', `/v1/nodes/${id}/release`);
    const told = await events.until(({ data }) => data.leaseEvents.kind === 'RELEASED');
    expect(told.map(({ data }) => data.leaseEvents.kind)).toEqual(['CLAIMED', 'RESERVED', 'RELEASED']);
    expect(told[0].data.leaseEvents).toMatchObject({ nodeId: id, holder: { personId: 'ana' }, fence: '1' });
    events.stop();
  });

  it('B44: resumes from a cursor without missing one or seeing one twice', async () => {
    const id = await rig.doors.node();
    const first = rig.subscribe('cleo', FOLLOW);
    const { cursor } = (await first.next()).data.leaseEvents;
    await call('ana', `/v1/nodes/${id}/claim`);
    const seen = (await first.next()).data.leaseEvents.seq;
    first.stop();
    for (let round = 0; round < 30; round += 1) {
      await call('ana', `/v1/nodes/${id}/reserve`);
      await call('ana', `/v1/nodes/${id}/claim`);
    }
    const again = rig.subscribe('cleo', FOLLOW, { after: seen });
    await call('ana', `/v1/nodes/${id}/release`);
    const told = await again.until(({ data }) => data.leaseEvents.kind === 'RELEASED');
    const seqs = told.map(({ data }) => Number(data.leaseEvents.seq));
    expect(seqs).toEqual(Array.from({ length: 61 }, (_, index) => Number(seen) + 1 + index));
    expect(Number(cursor)).toBe(Number(seen) - 1);
    again.stop();
  });

  it('passes on only what the filter lets through', async () => {
    const [a, b] = await rig.doors.nodes(2);
    const events = rig.subscribe('cleo', FOLLOW, { filter: { nodeIds: [b], kinds: ['CLAIMED'] } });
    await events.next();
    await call('ana', `/v1/nodes/${a}/claim`);
    await call('bo', `/v1/nodes/${b}/claim`);
    expect((await events.next()).data.leaseEvents).toMatchObject({
      nodeId: b,
      kind: 'CLAIMED',
      holder: { personId: 'bo' },
    });
    events.stop();
  });

  it.each(['', 'x', '-1', '999999999'])('refuses the cursor %j before any message', async (after) => {
    const events = rig.subscribe('cleo', FOLLOW, { after });
    const [message] = await Promise.all([events.next()]).catch(async () => [{ errors: await events.ended }]);
    expect(JSON.stringify(message)).toContain('INVALID_CURSOR');
    expect(JSON.stringify(message)).not.toContain('LeaseEventCursor');
  });

  it('tells the other replica’s events too, and nothing of another tenant', async () => {
    const other = await rig.start();
    const id = await rig.doors.node();
    const here = rig.subscribe('cleo', FOLLOW, { filter: { nodeIds: [id] } });
    const nextDoor = rig.subscribe('zoe', FOLLOW);
    await Promise.all([here.next(), nextDoor.next()]);
    await call('ana', `/v1/nodes/${id}/claim`, {}, other);
    expect((await here.next()).data.leaseEvents).toMatchObject({ kind: 'CLAIMED', nodeId: id });
    expect(nextDoor.all).toHaveLength(1);
    for (const each of [here, nextDoor]) each.stop();
  });

  it('B52: ends with the token, and lets nothing pass after it', async () => {
    const { data } = await rig.doors.graphql(
      'admin',
      'mutation { createToken(input: { personId: "bo" }) { token id } }',
    );
    rig.doors.introduce('short', data.createToken.token);
    const events = rig.subscribe('short', FOLLOW);
    await events.next();
    const control = rig.subscribe('cleo', FOLLOW);
    await control.next();
    const told = events.all.length;
    // Revoked where the server that holds the socket knows nothing of it, and used at once.
    await rig.doors.graphql('admin', `mutation { revokeToken(input: { id: "${data.createToken.id}" }) { id } }`);
    await call('ana', `/v1/nodes/${await rig.doors.node()}/claim`);
    expect((await control.next()).data.leaseEvents.kind).toBe('CLAIMED');
    expect(await events.ended).toMatchObject({ code: 4403 });
    expect(events.all).toHaveLength(told);
    control.stop();
    expect(await rig.subscribe('short', FOLLOW).ended).toMatchObject({ code: 4403 });
  });

  it('takes verbs on the same socket', async () => {
    const id = await rig.doors.node();
    const claim = rig.subscribe(
      'ana',
      'mutation ($id: ID!) { claimLease(input: { nodeId: $id }) { ... on ClaimLeaseSuccess { status } } }',
      { id },
    );
    expect(await claim.next()).toEqual({ data: { claimLease: { status: 'CLAIMED' } } });
    expect(await claim.ended).toBeNull();
  });

  it.each([
    ['a syntax error', '{ nonsense', 'Syntax Error'],
    ['a field that is not there', '{ nonsense }', 'Cannot query field'],
    ['a fault of the values', 'query ($id: ID!) { workNode(nodeId: $id) { title } }', '$id'],
  ])('answers %s to the document, and the socket stays open', async (_name, document, told) => {
    const bad = rig.subscribe('ana', document);
    const end = await bad.ended;
    expect(JSON.stringify([end, bad.all])).toContain(told);
  });
});

describe('leaseEvents as server-sent events', () => {
  it('follows over POST, and ends with the token', async () => {
    const id = await rig.doors.node();
    const { data } = await rig.doors.graphql(
      'admin',
      'mutation { createToken(input: { personId: "bo" }) { token id } }',
    );
    const answer = await fetch(`${rig.apps[0]?.url}/graphql`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${data.createToken.token}`,
        'Content-Type': 'application/json',
        Accept: 'text/event-stream',
      },
      body: JSON.stringify({ query: FOLLOW }),
    });
    expect(answer.headers.get('Content-Type')).toMatch('text/event-stream');
    const reader = (answer.body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream() as never)
      .getReader() as ReadableStreamDefaultReader<string>;
    let text = '';
    const read = async (wanted: string) => {
      while (!text.includes(wanted)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`the stream ended: ${text}`);
        text += value;
      }
    };
    await read('LeaseEventCursor');
    await call('ana', `/v1/nodes/${id}/claim`);
    await read('"kind":"CLAIMED"');
    expect(text).toContain('event: next');
    await rig.doors.graphql('admin', `mutation { revokeToken(input: { id: "${data.createToken.id}" }) { id } }`);
    for (let end = await reader.read(); !end.done; end = await reader.read()) text += end.value;
  });
});
