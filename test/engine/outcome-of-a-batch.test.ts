import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LANE_LIMITS } from '../../src/engine/lanes.ts';
import { StatementFailed } from '../../src/engine/transaction.ts';
import { Unavailable } from '../../src/engine/unavailable.ts';
import type { Outcome } from '../../src/lease/outcome.ts';
import { claim, nodeIds, release, renew } from '../support/commands.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { createPausePoints } from '../support/pause-points.ts';
import { ana, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';
import { lockLeaseRow } from '../support/row-lock.ts';

/** What callers are told when the database refuses a batch: whose fault, and whether to come again. */
const points = createPausePoints();
let rig: EngineRig;
let made = 0;

beforeAll(async () => {
  rig = await createEngineRig({
    poolSize: 1,
    pause: points.pause,
    limits: { ...LANE_LIMITS, longestWaitMs: 60_000 },
  });
  // Raises what `failure` says for events of that node, so many times. A sequence counts on through rollbacks.
  await rig.database.sql('CREATE TABLE failure (node_id text PRIMARY KEY, state text NOT NULL, times bigint NOT NULL)');
  await rig.database.sql('CREATE SEQUENCE failures');
  await rig.database.sql(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE f failure;
    BEGIN
      SELECT * INTO f FROM failure WHERE node_id = NEW.node_id;
      IF FOUND AND nextval('failures') <= f.times THEN RAISE EXCEPTION 'as arranged' USING ERRCODE = f.state; END IF;
      RETURN NEW;
    END $$`);
  await rig.database.sql('CREATE TRIGGER fail BEFORE INSERT ON lease_event FOR EACH ROW EXECUTE FUNCTION fail()');
});
afterEach(async () => {
  await rig.database.sql('DELETE FROM failure');
  expect(await brokenInvariants(rig.database)).toEqual({});
});
afterAll(() => rig.close());

/** A new node whose events fail with this state, the first times they are written. */
async function failingNode(state: string, times: number): Promise<string> {
  made += 1;
  const nodeId = `failing-${made}`;
  await rig.addNodes([nodeId]);
  await rig.database.sql('INSERT INTO failure VALUES ($1, $2, $3)', nodeId, state, times);
  await rig.database.sql(`SELECT setval('failures', 1, false)`);
  return nodeId;
}

async function failures(): Promise<number> {
  const [row] = await rig.database.sql<{ count: string }>('SELECT last_value AS count FROM failures');
  return Number(row?.count);
}

const run = (command: Parameters<EngineRig['engine']['executeOne']>[1]) => rig.engine.executeOne(TENANT, command);

describe.each([
  ['40001', 'a serialization failure'],
  ['40P01', 'a deadlock'],
  ['55P03', 'a lock that was not had in time'],
  ['57014', 'a statement that took too long'],
  ['53200', 'a server out of memory'],
  ['57P01', 'a server that is stopping'],
  ['08006', 'a broken connection'],
])('after %s, %s,', (state) => {
  it('the batch runs again and its callers never know', async () => {
    const nodeId = await failingNode(state, 3);
    expect(await run(claim(nodeId, ana))).toMatchObject({ status: 'claimed', lease: { fence: 1n } });
    expect(await failures()).toBe(4);
  });

  it('four times in a row the callers are told to come again, and nothing was done', async () => {
    const nodeId = await failingNode(state, 4);
    await expect(run(claim(nodeId, ana))).rejects.toThrow(Unavailable);
    expect(await failures()).toBe(4);
    expect(await run(claim(nodeId, ana))).toMatchObject({ status: 'claimed', edge: 'added', lease: { fence: 1n } });
  });
});

it('a batch whose connection is terminated before the commit runs again on another', async () => {
  await rig.addNodes(['terminated']);
  const decided = points.next('decided');
  const answer = run(claim('terminated', ana));
  const stop = await decided;
  await terminateEngineConnections();
  stop.go();
  expect(await answer).toMatchObject({ status: 'claimed', edge: 'added', lease: { fence: 1n } });
});

describe('a value that the database cannot take', () => {
  it('costs only the caller who sent it', async () => {
    const nodes = nodeIds(40, 'beside');
    await rig.addNodes(nodes);
    const culprit = await failingNode('23514', 1_000);
    const sent = [...nodes.slice(0, 13), culprit, ...nodes.slice(13)];
    const answers = await Promise.allSettled(sent.map((nodeId) => run(claim(nodeId, ana))));
    expect(answers.flatMap(({ status }, index) => (status === 'rejected' ? [sent[index]] : []))).toEqual([culprit]);
    expect(answers[13]).toMatchObject({ reason: expect.any(StatementFailed) });
    for (const answer of answers.filter(({ status }) => status === 'fulfilled')) {
      expect(answer).toMatchObject({ value: { status: 'claimed', lease: { fence: 1n } } });
    }
  });

  it("does not let a node's later commands overtake those that found it locked", async () => {
    await rig.addNodes(['locked']);
    const lock = await lockLeaseRow(rig.database, 'locked');
    const culprit = await failingNode('23514', 1_000);
    const firstHalf = points.next('committed', (commands) => commands.length === 3);
    const cycle = [claim('locked', ana), renew('locked', ana, { session: 's1' }), release('locked', ana)];
    const answers = [...cycle, ...cycle.slice(0, 2)].map(run);
    const failed = expect(run(claim(culprit, ana))).rejects.toThrow(StatementFailed);
    const stop = await firstHalf;
    await lock.letGo();
    stop.go();
    await failed;
    expect((await Promise.all(answers)).map(inShort)).toEqual([
      ...['claimed under 1', 'renewed under 1', 'released'],
      ...['claimed under 2', 'renewed under 2'],
    ]);
  });
});

it('a fault is told at once, to all who were in the batch', async () => {
  await rig.addNodes(['beside-a-fault']);
  const nodeId = await failingNode('XX000', 1_000);
  const answers = await Promise.allSettled([run(claim('beside-a-fault', ana)), run(claim(nodeId, ana))]);
  expect(answers).toMatchObject([{ reason: expect.any(StatementFailed) }, { reason: expect.any(StatementFailed) }]);
  expect(await failures()).toBe(1);
  expect(await run(claim('beside-a-fault', ana))).toMatchObject({ edge: 'added', lease: { fence: 1n } });
});

/** Ends the engine's connections and waits until they are gone. */
async function terminateEngineConnections(): Promise<void> {
  const ours = `pg_stat_activity WHERE datname = current_database() AND application_name = 'holdfast-engine'`;
  await rig.database.sql(`SELECT pg_terminate_backend(pid) FROM ${ours}`);
  while ((await rig.database.sql(`SELECT FROM ${ours}`)).length > 0);
}

function inShort(outcome: Outcome): string {
  return outcome.kind === 'held' ? `${outcome.status} under ${outcome.lease.fence}` : outcome.kind;
}
