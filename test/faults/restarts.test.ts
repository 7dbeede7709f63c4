import { afterEach, expect, it } from 'vitest';
import { brokenInvariants } from '../support/invariants.ts';
import { type Replicas, startReplicas } from '../support/replicas.ts';
import { until } from '../support/until.ts';

/** B07: a restart moves no end. Nothing of a lease is kept anywhere but in its row. */
const SECONDS_LEFT: Readonly<Record<string, number>> = { 'n-5': 5, 'n-30': 30, 'n-300': 300 };
const IDS = Object.keys(SECONDS_LEFT);
const ENDS =
  'SELECT node_id, holdfast_ms(expires_at)::text AS expires FROM lease WHERE holder IS NOT NULL ORDER BY node_id';

let replicas: Replicas;
afterEach(() => replicas.close());

it('three leases keep the time they have left through two restarts of all servers', async () => {
  replicas = await startReplicas(IDS);
  const { database } = replicas;
  for (const id of IDS) {
    expect((await replicas.call(1, 'ana', id, 'claim')).status).toBe(200);
    await database.sql(
      `UPDATE lease SET expires_at = holdfast_now() + $2 * interval '1 s', sweep_at = holdfast_now() + $2 * interval '1 s'
       WHERE node_id = $1`,
      ...[id, SECONDS_LEFT[id]],
    );
  }
  const ends = await database.sql(ENDS);
  for (let restart = 1; restart <= 2; restart += 1) {
    await replicas.restart();
    for (const id of IDS) await replicas.timeLeft(id);
    expect(ends).toEqual(expect.arrayContaining(await database.sql(ENDS)));
  }
  expect(await replicas.timeLeft('n-30')).toBeGreaterThan(1);
  expect(await replicas.timeLeft('n-300')).toBeGreaterThan(250_000);

  await until('the shortest has lapsed', async () => (await replicas.timeLeft('n-5')) === null);
  expect((await replicas.call(0, 'bo', 'n-5', 'claim')).body.lease.fence).toBe('2');
  expect((await replicas.call(0, 'bo', 'n-30', 'claim')).body.holder.by).toBe('ana');
  const [{ count, late } = { count: 0, late: -1 }] = await database.sql<{ count: number; late: number }>(
    `SELECT count(*)::int AS count, min(extract(epoch FROM at - expires_at))::float8 AS late
     FROM lease_event WHERE kind = 'EXPIRED'`,
  );
  expect(count).toBe(1);
  expect(late).toBeGreaterThanOrEqual(0);
  expect(await brokenInvariants(database)).toEqual({});
});
