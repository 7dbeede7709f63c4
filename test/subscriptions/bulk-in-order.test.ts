import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine } from '../../src/engine/engine.ts';
import { claim } from '../support/commands.ts';
import { FOLLOW, range, seqsOf, toldBy } from '../support/follow-seqs.ts';
import { createLiveRig, type LiveRig, type Messages } from '../support/live-rig.ts';
import { createPausePoints, type Stop } from '../support/pause-points.ts';
import { callOnce } from '../support/rest-client.ts';
import { ana, bo, connectTo, TENANT } from '../support/rig.ts';
import { until } from '../support/until.ts';

const COUNT = 5_000;
let rig: LiveRig;
beforeAll(async () => {
  rig = await createLiveRig(2);
  await rig.doors.policy({ bulk_max: COUNT });
});
afterAll(() => rig.close());

async function followers(): Promise<Messages[]> {
  const all = [0, 0, 1, 1].map((app) => rig.subscribe('cleo', FOLLOW, {}, rig.apps[app]));
  await Promise.all(all.map((each) => each.next()));
  return all;
}

const latest = async () => {
  const [row] = await rig.doors.database.sql<{ seq: string }>('SELECT seq FROM tenant WHERE tenant_id = $1', TENANT);
  return Number(row?.seq);
};

describe('what commits together or crosswise', () => {
  it('B51: a bulk claim of 5,000 long ids is seen whole and in order, and rings without a payload', async () => {
    const ids = Array.from({ length: COUNT }, (_, index) => `${String(index).padStart(5, '0')}${'x'.repeat(195)}`);
    await rig.doors.database.sql(
      `WITH made AS (INSERT INTO lease (tenant_id, node_id) SELECT $1, unnest($2::text[]))
       INSERT INTO work_node (tenant_id, node_id, type, status, body, created_at, updated_at)
       SELECT $1, unnest($2::text[]), 'task', 'open', repeat('note ', 2000), holdfast_now(), holdfast_now()`,
      TENANT,
      ids,
    );
    const payloads = new Set<string | undefined>();
    const listener = new pg.Client({ connectionString: rig.doors.database.url });
    // The database may be dropped under it.
    listener.on('error', () => {});
    await listener.connect();
    listener.on('notification', ({ payload }) => payloads.add(payload));
    await listener.query('LISTEN holdfast_events');

    const [from, all] = [await latest(), await followers()];
    const url = rig.apps[0]?.url as string;
    const { status, body } = await callOnce(url, rig.doors.token('ana'), 'POST', '/v1/queue/claim', { ids });
    expect([status, body.count]).toEqual([200, COUNT]);
    for (const each of all) {
      await until('it is seen whole', () => each.all.length > COUNT, { say: () => String(each.all.length) });
      expect(seqsOf(each)).toEqual(range(from, from + COUNT));
      expect(toldBy(each).map(({ nodeId }) => nodeId)).toEqual(ids);
      each.stop();
    }
    await listener.end();
    expect([...payloads]).toEqual(['']);
  });

  it.each(['decided', 'written'] as const)(
    'two transactions that stand open at %s, and commit crosswise where they can, are both seen in order',
    async (point) => {
      const [from, all, [a, b]] = [await latest(), await followers(), await rig.doors.nodes(2)];
      const own = connectTo(rig.doors.database.url, 2);
      const points = createPausePoints();
      const paused = createEngine({ client: own.engine, pause: points.pause });
      const stop: Promise<Stop> = points.next(point);
      const first = paused.executeOne(TENANT, claim(a as string, ana));
      const { go } = await stop;
      const second = rig.doors.engine.executeOne(TENANT, claim(b as string, bo));
      if (point === 'decided') {
        // The later one commits first, and is seen while the earlier still stands open.
        await second;
        for (const each of all) await until('the later one is seen', () => toldBy(each).length === 1);
      } else {
        // The earlier one has its place already, so that the later one waits for it.
        const waiting = () =>
          rig.doors.database.sql(
            `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          );
        await until('the later one waits', async () => (await waiting()).length > 0);
        for (const each of all) expect(toldBy(each)).toEqual([]);
      }
      go();
      await Promise.all([first, second]);
      const order = point === 'decided' ? [b, a] : [a, b];
      for (const each of all) {
        await until('both are seen', () => toldBy(each).length === 2);
        expect(toldBy(each).map(({ seq, nodeId }) => [seq, nodeId])).toEqual(
          order.map((id, at) => [from + 1 + at, id]),
        );
        each.stop();
      }
      await paused.stop();
      await own.close();
    },
  );
});
