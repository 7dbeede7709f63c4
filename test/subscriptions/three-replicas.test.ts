import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import type { App } from '../../src/app.ts';
import { createPerson } from '../../src/identity/people.ts';
import { createToken } from '../../src/identity/tokens.ts';
import { FOLLOW, toldBy } from '../support/follow-seqs.ts';
import { collect, createLiveRig, type LiveRig, type Messages } from '../support/live-rig.ts';
import { createRestClient, type RestClient } from '../support/rest-client.ts';
import { connectTo, TENANT } from '../support/rig.ts';
import { until } from '../support/until.ts';

/** Three servers on one database behave as one. */
const TTL_MS = 3_000;
const PEOPLE = Array.from({ length: 200 }, (_, index) => `racer-${index}`);

let rig: LiveRig;
let rest: RestClient[];
const disposals: (() => void)[] = [];
beforeAll(async () => {
  rig = await createLiveRig(3);
  rest = rig.apps.map(({ url }) => createRestClient(url, 70));
  await rig.doors.policy({ claim_ttl_ms: TTL_MS }, 'short');
  const clients = connectTo(rig.doors.database.url, 4);
  await Promise.all(
    PEOPLE.map(async (id) => {
      await createPerson(clients.reads, TENANT, { id, name: id, email: `${id}@acme.test` });
      const asked = { label: null, expiresAt: null, personId: id, agentId: null, admin: false };
      rig.doors.introduce(id, (await createToken(clients.reads, TENANT, asked)).token);
    }),
  );
  await clients.close();
});
afterAll(async () => {
  for (const dispose of disposals) dispose();
  for (const client of rest) client.close();
  await rig.close();
});

/** Two subscriptions over one socket. */
async function twoOverOne({ url }: App): Promise<Messages[]> {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    connectionParams: { authorization: `Bearer ${rig.doors.token('cleo')}` },
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  disposals.push(() => void client.dispose());
  const both = [0, 1].map(() => collect((sink) => client.subscribe({ query: FOLLOW }, sink)));
  await Promise.all(both.map((each) => each.next()));
  return both;
}

const everywhere = async () => (await Promise.all(rig.apps.map(twoOverOne))).flat();

/** The events of these kinds that each was told, when all have this many. */
async function told(followers: readonly Messages[], kind: string, count: number) {
  const of = (each: Messages) => toldBy(each).filter((event) => event.kind === kind);
  await until(`all are told ${count} times ${kind}`, () => followers.every((each) => of(each).length >= count), {
    say: () => followers.map((each) => of(each).length).join(' '),
  });
  return followers.map(of);
}

describe('three replicas', () => {
  it('B46: tell each lapse once to each subscription, by one seq everywhere, though all read at that moment', async () => {
    const ids = await rig.doors.nodes(100, { project: 'short' });
    const followers = await everywhere();
    const claimed = await Promise.all(
      ids.map((id, index) => rest[index % 3]?.call(rig.doors.token('ana'), 'POST', `/v1/nodes/${id}/claim`)),
    );
    const ends = claimed.map((answer) => Date.parse(answer?.body.lease.expires_at));
    const soon = Math.min(...ends) - 50;
    await until('the first end is near', async () => (await rig.doors.database.clock.now()) >= soon);
    const last = performance.now() + Math.max(...ends) - Math.min(...ends) + 200;
    while (performance.now() < last) {
      const id = ids[Math.trunc(last - performance.now()) % ids.length];
      await Promise.all(rest.map((client) => client.call(rig.doors.token('bo'), 'GET', `/v1/nodes/${id}`)));
    }
    const [first, ...others] = await told(followers, 'EXPIRED', 100);
    expect(first?.map(({ nodeId }) => nodeId).sort()).toEqual(ids);
    for (const each of others) expect(each).toEqual(first);
    const all = followers.map((each) => toldBy(each));
    for (const each of all) expect(each.map(({ seq }) => seq)).toEqual(all[0]?.map(({ seq }) => seq));
  });

  it('B09: have one winner among 200 claims, and tell of one', async () => {
    const id = await rig.doors.node();
    const followers = await everywhere();
    const answers = await Promise.all(
      PEOPLE.map((who, index) => rest[index % 3]?.call(rig.doors.token(who), 'POST', `/v1/nodes/${id}/claim`)),
    );
    const won = answers.filter((answer) => answer?.status === 200);
    expect(won).toHaveLength(1);
    const winner = won[0]?.body.lease.by;
    const lost = answers.filter((answer) => answer?.status === 409);
    expect(lost).toHaveLength(199);
    for (const answer of lost) expect(JSON.stringify(answer?.body)).toContain(JSON.stringify(winner));
    for (const each of await told(followers, 'CLAIMED', 1)) expect(each).toHaveLength(1);
  });
});
