import { afterEach, expect, it } from 'vitest';
import { brokenInvariants } from '../support/invariants.ts';
import { type Replicas, startReplicas } from '../support/replicas.ts';
import { until } from '../support/until.ts';

/** B01: a replica's wall clock jumps an hour ahead, then an hour behind. Leases go by the database's clock alone. */
const TTL = 6_000;
const PRELOAD = new URL('../support/shifted-clock.mjs', import.meta.url).href;

let replicas: Replicas;
afterEach(() => replicas.close());

it('a lease ends at its database time on both replicas, whatever the clock of one says', async () => {
  replicas = await startReplicas(['n1', 'n2'], [{ NODE_OPTIONS: `--import ${PRELOAD}` }, {}]);
  await replicas.setPolicy({ claimTtlMs: TTL, claimTtlMaxMs: TTL });
  const [shifted] = replicas.servers;
  const jump = async (off: number) => {
    shifted.signal('SIGUSR2');
    const off100 = new RegExp(`off by ${String(off).slice(0, -2)}\\d\\d ms`);
    await until('the clock has jumped', () => off100.test(shifted.output()), { say: shifted.output });
  };

  const claimed = await replicas.call(0, 'ana', 'n1', 'claim');
  expectInRange(claimed.body.expires_in_ms);
  await expectHeld();
  await jump(3_600_000);
  await expectHeld();
  const renewed = await replicas.call(0, 'ana', 'n1', 'renew');
  expect(renewed.body.lease.fence).toBe('1');
  expectInRange(renewed.body.expires_in_ms);
  await jump(-3_600_000);
  await expectHeld();
  expectInRange((await replicas.call(0, 'ana', 'n2', 'claim')).body.expires_in_ms);

  await until('the lease has lapsed', async () => (await replicas.timeLeft('n1')) === null);
  const taken = await replicas.call(0, 'bo', 'n1', 'claim');
  expect([taken.status, taken.body.lease.fence]).toEqual([200, '2']);
  const events = await replicas.database.sql<{ kind: string; fence: string; late: number }>(
    `SELECT kind, fence::text, holdfast_ms(at)::float8 - $1::float8 AS late FROM lease_event
     WHERE node_id = 'n1' AND kind <> 'NODE_CREATED' ORDER BY seq`,
    renewed.body.lease.expires,
  );
  expect(events.map(({ kind, fence }) => `${kind} ${fence}`)).toEqual(['CLAIMED 1', 'EXPIRED 1', 'CLAIMED 2']);
  expect(events[1]?.late).toBeGreaterThanOrEqual(0);
  expect(await brokenInvariants(replicas.database)).toEqual({});
});

/** By both replicas, for its holder and for another, who is told when to come back. */
async function expectHeld(): Promise<void> {
  expectInRange(await replicas.timeLeft('n1'));
  for (const server of [0, 1] as const) {
    const { status, headers, body } = await replicas.call(server, 'bo', 'n1', 'claim');
    expect([status, body.holder?.by]).toEqual([409, 'ana']);
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(TTL / 1_000);
  }
}

function expectInRange(expiresInMs: number | null): void {
  expect(expiresInMs).toBeGreaterThan(0);
  expect(expiresInMs).toBeLessThanOrEqual(TTL);
}
