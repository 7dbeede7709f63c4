import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Command } from '../../src/lease/command.ts';
import { claim, extend, nodeIds, putNode, release, renew, reserve, setStatus } from '../support/commands.ts';
import { countStatements } from '../support/count-statements.ts';
import { createDice } from '../support/random.ts';
import { randomCommand } from '../support/random-commands.ts';
import { ana, bo, createEngineRig, type EngineRig, TENANT } from '../support/rig.ts';

/** What a batch costs at the database: statements, prepared statements and rows read. */

type Bulk = readonly [name: string, commands: (ids: readonly string[]) => readonly Command[]];

const put = (ids: readonly string[]) =>
  ids.map((nodeId) => putNode(nodeId, ana, { edges: [{ from: nodeId, type: 'blocks', to: 'x' }], ifExists: 'update' }));

const BULKS: readonly Bulk[] = [
  ['put-node', put],
  ['claim', (ids) => ids.map((nodeId) => claim(nodeId, ana))],
  ['renew', (ids) => ids.map((nodeId) => renew(nodeId, ana))],
  ['renew with a session', (ids) => ids.map((nodeId) => renew(nodeId, ana, { session: 's1' }))],
  ['refused claim', (ids) => ids.map((nodeId) => claim(nodeId, bo))],
  [
    'any verb',
    (ids) =>
      ids.map((nodeId, index) => {
        const [person, other] = [ana, bo];
        const verbs = [reserve(nodeId, person), extend(nodeId, person, 1e6), setStatus(nodeId, other, 'active')];
        return [...verbs, claim(nodeId, other), release(nodeId, person)][index % 5] as Command;
      }),
  ],
  ['release', (ids) => ids.map((nodeId) => release(nodeId, ana))],
  ['update of nodes', (ids) => put(ids).map((command) => ({ ...command, fields: { type: 'issue' } }))],
];

describe('with one connection', () => {
  let rig: EngineRig;
  beforeAll(async () => {
    rig = await createEngineRig({ poolSize: 1 });
  });
  afterAll(() => rig.close());

  it.each(BULKS)('%s: at most four statements besides begin and commit for each 500 ids', async (_, commands) => {
    const ids = nodeIds(1_000, 'counted');
    const count = await countStatements(() => rig.engine.execute(TENANT, commands(ids)));
    expect(count).toEqual({ begins: 2, commits: 2, others: expect.any(Number) });
    expect(count.others).toBeGreaterThanOrEqual(4);
    expect(count.others).toBeLessThanOrEqual(8);
  });

  it('has the same prepared statements after 1,000 mixed batches as after 100', async () => {
    const dice = createDice(7);
    const prepared = () =>
      rig.clients.engine.$queryRawUnsafe('SELECT name, statement FROM pg_prepared_statements ORDER BY name');
    const batches = async (count: number) => {
      for (let batch = 0; batch < count; batch += 1) {
        const commands = Array.from({ length: 1 + dice.below(20) }, () => randomCommand(dice));
        await rig.engine.execute(TENANT, commands);
      }
    };
    await batches(100);
    const after100 = await prepared();
    await batches(900);
    expect(await prepared()).toEqual(after100);
    expect(after100).toMatchObject(['append', 'lock', 'read', 'write'].map((name) => ({ name: `holdfast_${name}` })));
  });
});

describe('on connections that were opened on an empty database', () => {
  let rig: EngineRig;
  beforeAll(async () => {
    rig = await createEngineRig({ poolSize: 1 });
  });
  afterAll(() => rig.close());

  /** Rows and index entries that the engine's connection read in a call. */
  async function rowsRead(commands: readonly Command[]): Promise<number> {
    const before = await total();
    await rig.engine.execute(TENANT, commands);
    return (await total()) - before;
  }

  async function total(): Promise<number> {
    // The engine's only connection then tells at once what it read; else it does so when it likes.
    await rig.clients.engine.$queryRawUnsafe('SELECT pg_stat_force_next_flush()::text');
    const [row] = await rig.database.sql<{ rows: string }>(
      `SELECT (SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables)
            + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes) AS rows`,
    );
    return Number(row?.rows);
  }

  it('a batch of 500 reads as few rows with 20,000 nodes as with 500', async () => {
    const reads = async (ids: readonly string[]) => {
      const rows: Record<string, number> = {};
      for (const [name, commands] of BULKS) rows[name] = await rowsRead(commands(ids));
      return rows;
    };
    const few = await reads(nodeIds(500, 'few'));
    for (let first = 0; first < 19_000; first += 500) {
      await rig.engine.execute(TENANT, put(nodeIds(500, `more-${first}-`)));
    }
    const many = await reads(nodeIds(500, 'many'));
    for (const [name, rows] of Object.entries(many)) {
      expect(rows, `${name}: ${few[name]} rows at first`).toBeLessThan(500 * 20);
      // Versions that a vacuum has not yet come to are read again; a table read through would be ten times as many.
      expect(rows, `${name}: ${few[name]} rows at first`).toBeLessThanOrEqual((few[name] ?? 0) + 500 * 5);
    }
  });
});
