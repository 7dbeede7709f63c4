import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Command } from '../../src/lease/command.ts';
import { claim, extend, release, renew, reserve } from '../support/commands.ts';
import { createPausePoints } from '../support/pause-points.ts';
import { ana, bo, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';

/**
 * A refusal takes no row lock and writes nothing, so that a thousand callers who want a held node cost no fsync. A
 * transaction that locks or writes a row is given a transaction id by PostgreSQL; the server's log of one connection
 * can be read from version 18.
 */
const points = createPausePoints();
let rig: EngineRig;
let version: number;

beforeAll(async () => {
  rig = await createEngineRig({ poolSize: 1, pause: points.pause });
  await rig.addNodes(['held', 'mine', 'free', 'lapsed']);
  await rig.addNodes(['over'], { status: 'done' });
  await rig.addNodes(['note'], { type: 'note' });
  await rig.engine.execute(TENANT, [claim('held', ana), claim('mine', bo)]);
  const [row] = await rig.database.sql<{ version: string }>(`SELECT current_setting('server_version_num') AS version`);
  version = Number(row?.version);
  await rig.database.sql('VACUUM');
});
afterAll(() => rig.close());

const REFUSALS: readonly (readonly [Command, string])[] = [
  [claim('held', bo), 'conflict'],
  [release('held', bo), 'conflict'],
  ...[renew('held', bo), extend('held', bo, 1_000), reserve('held', bo)].map((it) => [it, 'lease_lost'] as const),
  ...[renew('mine', bo, { fence: 7n }), extend('free', bo, 1, { fence: 7n }), reserve('free', bo, { fence: 7n })].map(
    (it) => [it, 'lease_lost'] as const,
  ),
  ...[claim('over', bo), renew('over', bo), extend('over', bo, 1), reserve('over', bo)].map(
    (it) => [it, 'not_ready'] as const,
  ),
  ...[claim('note', bo), renew('note', bo), extend('note', bo, 1), reserve('note', bo)].map(
    (it) => [it, 'invalid_node'] as const,
  ),
  ...[claim('none', bo), renew('none', bo), release('none', bo)].map((it) => [it, 'not_found'] as const),
];

describe('a batch of refusals', () => {
  it.each(REFUSALS.map(([command, code]) => [code, command.verb, command.nodeId, command] as const))(
    '%s of %s on %s writes nothing',
    async (code, _verb, _nodeId, command) => {
      const { codes, transactionId } = await traceOf([command]);
      expect(codes).toEqual([code]);
      expect(transactionId).toBeNull();
    },
  );

  it('writes nothing with all of them together', async () => {
    const { codes, transactionId } = await traceOf(REFUSALS.map(([command]) => command));
    expect(codes).toEqual(REFUSALS.map(([, code]) => code));
    expect(transactionId).toBeNull();
  });

  it("leaves the server's log where it was", async ({ skip }) => {
    if (version < 180_000) skip('one connection’s share of the log is not counted before PostgreSQL 18');
    const before = await logged();
    await rig.engine.execute(
      TENANT,
      REFUSALS.map(([command]) => command),
    );
    expect(await logged()).toBe(before);
    await rig.engine.executeOne(TENANT, renew('mine', bo));
    expect(await logged()).toBeGreaterThan(before);
  });

  it('is told from a batch that only locks a row', async () => {
    const { codes, transactionId } = await traceOf([claim('mine', bo, { dispatch: 'd1' }), release('free', bo)]);
    expect(codes).toEqual(['held', 'released']);
    expect(transactionId).toMatch(/^\d+$/);
  });
});

/** What a batch answers, and the transaction id it had when all was written. */
async function traceOf(commands: readonly Command[]): Promise<{ codes: string[]; transactionId: string | null }> {
  const written = points.next('written');
  const answer = rig.engine.execute(TENANT, commands);
  const stop = await written;
  const [engine] = await rig.database.sql<{ xid: string | null }>(
    `SELECT backend_xid::text AS xid FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'holdfast-engine'`,
  );
  stop.go();
  const outcomes = await answer;
  return {
    codes: outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.code : outcome.kind)),
    transactionId: engine?.xid ?? null,
  };
}

/** Records that the engine's connection wrote to the log, ever. */
async function logged(): Promise<number> {
  const [row] = await rig.clients.engine.$queryRawUnsafe<[{ pid: number }]>(
    'SELECT pg_backend_pid() AS pid, pg_stat_force_next_flush()::text',
  );
  const [wal] = await rig.database.sql<{ records: string }>(
    'SELECT wal_records AS records FROM pg_stat_get_backend_wal($1)',
    row.pid,
  );
  return Number(wal?.records);
}
