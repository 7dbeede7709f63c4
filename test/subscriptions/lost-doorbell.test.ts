import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import { type CuttingProxy, createCuttingProxy } from '../support/cutting-proxy.ts';
import { FOLLOW, range, seqsOf } from '../support/follow-seqs.ts';
import { createLiveRig, type LiveRig, type Messages } from '../support/live-rig.ts';
import { until } from '../support/until.ts';

/** B43: the connection that listens is lost in the middle of traffic, and no client has to connect again. */
let rig: LiveRig;
let proxy: CuttingProxy;
let away: App;
let id: string;
beforeAll(async () => {
  rig = await createLiveRig(2);
  proxy = await createCuttingProxy(rig.doors.database.url);
  away = await rig.start({ DATABASE_URL: proxy.url });
  id = await rig.doors.node();
});
afterAll(async () => {
  await rig.close();
  await proxy.close();
});

const latest = async () => {
  const [row] = await rig.doors.database.sql<{ seq: string }>(`SELECT seq FROM tenant WHERE tenant_id = 'acme'`);
  return Number(row?.seq);
};

/** Each turn is two events, written by the first replica. */
async function turns(count: number): Promise<void> {
  const headers = { Authorization: `Bearer ${rig.doors.token('ana')}`, 'Content-Type': 'application/json' };
  for (let turn = 0; turn < count; turn += 1) {
    for (const verb of ['claim', 'release']) {
      await fetch(`${rig.apps[0]?.url}/v1/nodes/${id}/${verb}`, { method: 'POST', headers, body: '{}' });
    }
  }
}

async function follow(apps: readonly (App | undefined)[]): Promise<Messages[]> {
  const all = apps.map((app) => rig.subscribe('cleo', FOLLOW, {}, app));
  await Promise.all(all.map((each) => each.next()));
  return all;
}

async function seesAll(followers: readonly Messages[], from: number): Promise<void> {
  const to = await latest();
  for (const [index, each] of followers.entries()) {
    await until(`follower ${index} has all`, () => seqsOf(each).includes(to), { say: () => seqsOf(each).join(' ') });
    expect(seqsOf(each)).toEqual(range(from, to));
    each.stop();
  }
}

const doorbells = async () =>
  (
    await rig.doors.database.sql<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'holdfast-doorbell'`,
    )
  ).map(({ pid }) => pid);

describe('B43: subscribers that stay connected miss nothing', () => {
  it('when the backend that listens is terminated, again and again', async () => {
    const from = await latest();
    const followers = await follow(rig.apps);
    for (let round = 0; round < 3; round += 1) {
      await turns(5);
      const before = await doorbells();
      const ended = rig.doors.database.sql('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', before);
      await turns(10);
      await ended;
      await until('all listen again', async () => {
        const now = await doorbells();
        return now.length === 3 && now.every((pid) => !before.includes(pid));
      });
    }
    await turns(5);
    await seesAll(followers, from);
  });

  it('when every connection of a replica breaks', async () => {
    const from = await latest();
    const followers = await follow([away]);
    await turns(5);
    proxy.silence();
    await turns(10);
    proxy.speak();
    await turns(5);
    await seesAll(followers, from);
  });

  it('when every connection of a replica goes silent, and nothing tells so', { timeout: 120_000 }, async () => {
    const from = await latest();
    const followers = await follow([away]);
    await turns(5);
    proxy.muteOpen();
    await turns(10);
    await seesAll(followers, from);
  });
});
