import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import type { App } from '../../src/app.ts';
import { collect, createLiveRig, type LiveRig } from '../support/live-rig.ts';
import { PUBLIC_CLIENTS } from '../support/public-clients.ts';

/** The clients that callers have follow a lease through its life. */
let rig: LiveRig;
beforeAll(async () => {
  rig = await createLiveRig(1);
});
afterAll(() => rig.close());

const EVENTS = `subscription ($after: String, $nodeIds: [ID!]) {
  leaseEvents(after: $after, filter: { nodeIds: $nodeIds }) {
    __typename
    ... on LeaseEvent { seq kind nodeId fence }
    ... on LeaseEventCursor { cursor: seq }
  }
}`;
const LOST = 'subscription { leaseLost { nodeId fence reason seq } }';
const EXPIRING =
  'subscription ($withinMs: Float!) { leaseExpiring(withinMs: $withinMs) { expiresInMs lease { nodeId fence } } }';
const LONGER_THAN_A_CLAIM_MS = 3_600_000;

async function act(who: string, id: string, verb: string, body: object = {}): Promise<void> {
  const answer = await fetch(`${rig.apps[0]?.url}/v1/nodes/${id}/${verb}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${rig.doors.token(who)}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
}

it.each(PUBLIC_CLIENTS)(
  '%s follows a lease through claim, warning, heartbeat, loss and resume',
  async (_name, make) => {
    const id = await rig.doors.node();
    const client = make(rig.apps[0]?.url as string, rig.doors.token('ana'));
    try {
      const events = client.follow(EVENTS, { nodeIds: [id] });
      expect((await events.next()).data.leaseEvents).toMatchObject({ __typename: 'LeaseEventCursor' });
      const lost = client.follow(LOST, {});
      const expiring = client.follow(EXPIRING, { withinMs: LONGER_THAN_A_CLAIM_MS });
      const about = (of: string) => (message: { data: { leaseExpiring: { lease: { nodeId: string } } } }) =>
        message.data.leaseExpiring.lease.nodeId === of;

      await act('ana', id, 'claim');
      const claimed = (await events.next()).data.leaseEvents;
      expect(claimed).toMatchObject({ kind: 'CLAIMED', nodeId: id, fence: '1' });
      const warned = (await expiring.until(about(id))).at(-1).data.leaseExpiring;
      expect(warned.expiresInMs).toBeLessThanOrEqual(LONGER_THAN_A_CLAIM_MS);
      // A heartbeat is no event of the history: the next one is the loss.
      await act('ana', id, 'renew');
      await act('admin', id, 'break', { reason: 'Its run is gone.' });
      expect((await events.next()).data.leaseEvents).toMatchObject({ kind: 'BROKEN', fence: '1' });
      const told = await lost.until(({ data }) => data.leaseLost.nodeId === id);
      expect(told.at(-1).data.leaseLost).toMatchObject({ reason: 'BROKEN', fence: '1' });
      for (const each of [events, lost, expiring]) each.stop();

      await act('bo', id, 'claim');
      await act('bo', id, 'release');
      const resumed = client.follow(EVENTS, { nodeIds: [id], after: claimed.seq });
      const kinds = (await resumed.until(({ data }) => data.leaseEvents.kind === 'RELEASED')).map(
        ({ data }) => data.leaseEvents.kind,
      );
      expect(kinds).toEqual(['BROKEN', 'CLAIMED', 'RELEASED']);
      resumed.stop();
    } finally {
      client.close();
    }
  },
);

describe('graphql-ws resumes at another replica, without missing an event or seeing one twice', () => {
  it.each([
    ['is stopped', (app: App) => app.stop()],
    ['is cut off', async (_app: App, cut: () => void) => cut()],
  ])('when its server %s', async (_name, end) => {
    const first = await rig.start();
    const urls = [first.url, rig.apps[0]?.url as string];
    const id = await rig.doors.node();
    let current: WebSocket | undefined;
    class Watched extends WebSocket {
      constructor(url: string, protocols?: string | string[]) {
        super(url, protocols);
        current = this;
      }
    }
    const client = createClient({
      url: () => `${(urls.length > 1 ? urls.shift() : urls[0])?.replace('http', 'ws')}/graphql`,
      connectionParams: () => ({ authorization: `Bearer ${rig.doors.token('cleo')}` }),
      webSocketImpl: Watched,
      shouldRetry: () => true,
      retryWait: async () => {},
    });
    let last: string | undefined;
    const variables = { nodeIds: [id] };
    const events = collect((sink) =>
      client.subscribe<{ leaseEvents: { seq?: string; cursor?: string } }>(
        {
          query: EVENTS,
          get variables() {
            return last === undefined ? variables : { ...variables, after: last };
          },
        },
        {
          ...sink,
          next(message) {
            const { seq, cursor } = message.data?.leaseEvents ?? {};
            last = seq ?? cursor ?? last;
            sink.next(message);
          },
        },
      ),
    );
    await events.next();
    await act('ana', id, 'claim');
    await events.next();
    const ended = end(first, () => current?.terminate());
    for (let round = 0; round < 5; round += 1) {
      await act('ana', id, 'reserve');
      await act('ana', id, 'claim');
    }
    await ended;
    await act('ana', id, 'release');
    await events.until(({ data }) => data.leaseEvents.kind === 'RELEASED');
    const kinds = events.all.flatMap(({ data }) => data.leaseEvents.kind ?? []);
    const rounds = Array.from({ length: 5 }, () => ['RESERVED', 'RESUMED']).flat();
    expect(kinds).toEqual(['CLAIMED', ...rounds, 'RELEASED']);
    await client.dispose();
    const at = rig.apps.indexOf(first);
    await (rig.apps as App[]).splice(at, 1)[0]?.stop();
  });
});
