import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type BoardRig, createBoardRig } from '../support/board-rig.ts';
import { claim, expire, release, renew } from '../support/commands.ts';
import { ana, bo, TENANT } from '../support/rig.ts';

let rig: BoardRig;
beforeAll(async () => {
  rig = await createBoardRig();
  return () => rig.close();
});
afterEach(() => rig.clear());

const PAGE = /ORDER BY l\.claimed_at/;

describe('a board', () => {
  it('keeps a lease that has lapsed until it is ended, and never takes one that lives for ended', async () => {
    const { boards, run } = rig.serve();
    const [id, marker] = (await rig.nodes(2)).ids as [string, string];
    await run(claim(id, ana));
    const board = rig.keep(await boards.open(TENANT, { nodeIds: [id, marker] }));
    await board.complete();
    await rig.database.sql(
      `UPDATE lease SET claimed_at = claimed_at - interval '2 h', expires_at = expires_at - interval '2 h',
         sweep_at = sweep_at - interval '2 h' WHERE node_id = $1`,
      id,
    );
    await boards.runOnce();
    await run(claim(marker, bo));
    await board.until(marker);
    expect(board.changesOf(id)).toBe(0);
    expect(board.leases.has(id)).toBe(true);
    await run(expire(id, 1n));
    expect(await board.next()).toMatchObject({ kind: 'change', nodeId: id, lease: null });
    const late = rig.keep(await boards.open(TENANT, { nodeIds: [id] }));
    await late.complete();
    expect(late.leases.size).toBe(0);
  });

  it('goes through its leases a bounded number a tick, and comes to each', async () => {
    const { boards, run, runElsewhere } = rig.serve({ pagesATick: 1 });
    const { ids, project } = await rig.nodes(1_100);
    await run(...ids.map((id) => claim(id, ana)));
    const board = rig.keep(await boards.open(TENANT, { project }));
    await board.complete();
    const last = [...board.leases.keys()].at(-1) as string;
    await runElsewhere(renew(last, ana));
    let pages = 0;
    rig.beforeRead = (sql) => {
      if (PAGE.test(sql)) pages += 1;
    };
    for (let tick = 1; tick <= 3; tick += 1) {
      await boards.runOnce();
      expect(pages).toBe(tick);
    }
    expect(await board.next()).toMatchObject({ kind: 'change', nodeId: last, lease: { holder: 'ana' } });
  });

  it('that is not read has each node waiting once, and tells its latest state', async () => {
    const { boards, run, relay } = rig.serve({ bound: 3 });
    const [id, marker] = (await rig.nodes(2)).ids as [string, string];
    const board = rig.keep(await boards.open(TENANT, { nodeIds: [id, marker] }));
    await board.complete();
    for (let round = 0; round < 20; round += 1) await run(claim(id, ana), release(id, ana));
    await run(claim(id, bo), claim(marker, bo));
    await relay.runOnce();
    expect(await board.next()).toMatchObject({ kind: 'change', nodeId: id, lease: { holder: 'bo', fence: 21n } });
    await board.until(marker);
    expect(board.told).toHaveLength(3);
  });

  it('B50: that falls too far behind is told so with the last seq it was handed, and the others are not', async () => {
    const { boards, run, relay } = rig.serve({ bound: 50 });
    const { ids } = await rig.nodes(102);
    const slow = rig.keep(await boards.open(TENANT, { nodeIds: ids }));
    const other = rig.keep(await boards.open(TENANT, { nodeIds: ids.slice(0, 40) }));
    await Promise.all([slow.complete(), other.complete()]);
    await run(claim(ids[0] as string, ana));
    const change = await slow.next();
    await run(...ids.slice(1).map((id) => claim(id, ana)));
    await relay.runOnce();
    expect(await slow.next()).toEqual({ kind: 'slow', lastSeq: change.kind === 'change' && change.seq });
    await expect(slow.next()).rejects.toThrow('the board ended');
    while (other.leases.size < 40) await other.next();
    expect(boards.size).toBe(1);
    const again = rig.keep(await boards.open(TENANT, { nodeIds: ids }));
    await again.complete();
    expect(again.leases.size).toBe(102);
  });

  it('is not ended by the end of all its leases at once', async () => {
    const { boards, run, relay } = rig.serve({ bound: 50 });
    const { ids } = await rig.nodes(300);
    await run(...ids.map((id) => claim(id, ana)));
    const board = rig.keep(await boards.open(TENANT, { nodeIds: ids }));
    await board.complete();
    await run(...ids.map((id) => release(id, ana)));
    await relay.runOnce();
    while (board.leases.size > 0) expect(await board.next()).toMatchObject({ kind: 'change', lease: null });
  });

  it('waits for a database that is out of reach, and goes on', async () => {
    const { boards, run } = rig.serve();
    const [id] = (await rig.nodes(1)).ids as [string];
    const board = rig.keep(await boards.open(TENANT, { nodeIds: [id] }));
    await board.complete();
    let failed = 0;
    rig.beforeRead = (sql) => {
      if (!/in_force/.test(sql) || failed > 0) return;
      failed += 1;
      throw Object.assign(new Error('gone'), { code: 'ECONNRESET' });
    };
    await run(claim(id, ana));
    expect(await board.next()).toMatchObject({ nodeId: id, lease: { holder: 'ana' } });
    expect(failed).toBe(1);
  });

  it('B48: that is left at any moment leaves nothing behind', async () => {
    const TICK = 54_321;
    const { boards, relay, run } = rig.serve({ tickMs: TICK });
    const [id] = (await rig.nodes(1)).ids as [string];
    const timers = new Set<unknown>();
    const set = vi.spyOn(globalThis, 'setTimeout');
    const clear = vi.spyOn(globalThis, 'clearTimeout');
    rig.atEnd(() => vi.restoreAllMocks());
    boards.start();
    await run(claim(id, ana));
    const open = () => boards.open(TENANT, { nodeIds: [id] });
    const [unread, begun, waiting, behind] = await Promise.all([open(), open(), open(), open()]);
    await begun.next();
    await Promise.all([waiting.next(), behind.next()]);
    const pending = waiting.next();
    expect([boards.size, relay.subscribers]).toEqual([4, 4]);
    await run(renew(id, ana));
    for (const messages of [unread, begun, waiting, behind, begun]) await messages.return?.();
    expect(await pending).toMatchObject({ done: true });
    expect([boards.size, relay.subscribers]).toEqual([0, 0]);
    set.mock.calls.forEach(([, ms], index) => {
      if (ms === TICK || ms === 250) timers.add(set.mock.results[index]?.value);
    });
    expect(timers.size).toBe(2);
    for (const [timer] of clear.mock.calls) timers.delete(timer);
    expect(timers.size).toBe(0);
    let asked = false;
    boards.moved(TENANT, () => {
      asked = true;
      return [];
    });
    expect(asked).toBe(false);
  });
});
