import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type BoardRig, createBoardRig, shown } from '../support/board-rig.ts';
import { breakLease, claim, release, renew, reserve, setStatus } from '../support/commands.ts';
import { ana, anasAgent, bo, TENANT } from '../support/rig.ts';

let rig: BoardRig;
beforeAll(async () => {
  rig = await createBoardRig();
  return () => rig.close();
});
afterEach(() => rig.clear());

const BOUNDS = /lease_event e/;
const PAGE = /ORDER BY l\.claimed_at/;

describe('B42: what commits while a board begins', () => {
  /** Runs the action before the nth read of that text. */
  const beforeThe = (nth: number, text: RegExp, action: () => Promise<unknown>) => {
    let seen = 0;
    rig.beforeRead = (sql) => {
      if (!text.test(sql)) return undefined;
      seen += 1;
      return seen === nth ? action() : undefined;
    };
  };
  const points: [string, (action: () => Promise<unknown>) => void, number?][] = [
    ['before it is registered', (action) => beforeThe(1, BOUNDS, action)],
    ['before the first page', (action) => beforeThe(1, PAGE, action)],
    ['between the pages', (action) => beforeThe(2, PAGE, action)],
    ['before the first change is taken', () => {}, 2],
  ];

  it.each(points)('%s is in the snapshot or told, once', async (_name, arm, parts) => {
    const { boards, run, runElsewhere } = rig.serve();
    const { ids, project } = await rig.nodes(520);
    const [freed, taken, moved, parked, again, broken, marker, last] = [
      ...ids.slice(0, 3),
      ...ids.slice(510, 513),
      ...ids.slice(518),
    ] as [string, string, string, string, string, string, string, string];
    const held = ids.filter((id) => ![taken, marker, last].includes(id));
    await runElsewhere(...held.map((id) => claim(id, bo)));
    const action = async () => {
      await run(release(freed, bo), claim(taken, ana), renew(moved, bo, { session: 's' }), reserve(parked, bo));
      await runElsewhere(release(again, bo), claim(again, anasAgent), breakLease(broken, ana, null));
      await runElsewhere(setStatus(last, ana, 'active'));
    };
    arm(action);
    const board = rig.keep(await boards.open(TENANT, { project }));
    await board.complete();
    if (parts !== undefined) await action();
    await run(claim(marker, ana));
    await board.until(marker);
    expect([...board.leases.values()].map(shown).sort()).toEqual(await rig.listed({ project }));
    expect(board.leases.size).toBe(held.length + 1);
    for (const id of [freed, taken, moved, parked, again, broken, last]) {
      expect(board.changesOf(id)).toBeLessThanOrEqual(1);
    }
    const snapshots = board.told.filter(({ kind }) => kind === 'snapshot');
    expect(snapshots).toHaveLength(2);
    expect(new Set(snapshots.map((each) => each.kind === 'snapshot' && each.seq)).size).toBe(1);
  });

  it('the same for a heartbeat, which is no event', async () => {
    const { boards, run, runElsewhere } = rig.serve();
    const [here, there] = (await rig.nodes(2)).ids as [string, string];
    await run(claim(here, bo), claim(there, bo));
    let done = false;
    rig.beforeRead = async (sql) => {
      if (!PAGE.test(sql) || done) return;
      done = true;
      await run(renew(here, bo));
    };
    const board = rig.keep(await boards.open(TENANT, { nodeIds: [here, there] }));
    await board.complete();
    await runElsewhere(renew(there, bo));
    await boards.runOnce();
    await board.next();
    expect([...board.leases.values()].map(shown).sort()).toEqual(await rig.listed({ nodeIds: [here, there] }));
    expect(board.changesOf(here)).toBe(0);
  });
});
