import { afterAll, beforeAll, expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import { type Board, boardOf, FOLLOW_BOARD } from '../support/board.ts';
import { createLiveRig, type LiveRig } from '../support/live-rig.ts';
import { createDice, type Dice, seedOfThisRun } from '../support/random.ts';
import { until } from '../support/until.ts';

/** Boards on two servers, under random traffic on both: in the end each shows what the list says. */
let rig: LiveRig;
beforeAll(async () => {
  rig = await createLiveRig(2);
  await rig.doors.policy({ claim_ttl_ms: 1_000 }, 'short');
});
afterAll(() => rig.close());

const FILTERS: readonly (readonly [filter: object, query: string])[] = [
  [{}, ''],
  [{ project: 'p1' }, 'project=p1'],
  [{ personId: 'ana' }, 'person=ana'],
  [{ agentId: 'ana-one' }, 'agent=ana-one'],
  [{ session: 's1' }, 'session=s1'],
  [{ reserved: true }, 'reserved=true'],
  [{ expiringWithinMs: 3_600_000 }, 'expiring_within_ms=3600000'],
];
const CALLERS = ['ana', 'ana-one', 'ana-two', 'bo', 'cleo'];
const WAVES = 24;
const CALLS_A_WAVE = 6;

async function call(who: string, method: string, path: string, app: App, body?: object) {
  const headers = { Authorization: `Bearer ${rig.doors.token(who)}`, 'Content-Type': 'application/json' };
  const answer = await fetch(`${app.url}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const told = await answer.json();
  expect([200, 409, 404], JSON.stringify(told)).toContain(answer.status);
  return told as { leases: Record<string, unknown>[] };
}

function randomCall(dice: Dice, ids: readonly string[]): Promise<unknown> {
  const app = dice.pick(rig.apps);
  const id = dice.pick(ids);
  const who = dice.pick(CALLERS);
  const session = dice.chance(0.4) ? dice.pick(['s1', 's2']) : undefined;
  const verb = (name: string, body: object) => call(who, 'POST', `/v1/nodes/${id}/${name}`, app, body);
  switch (dice.below(12)) {
    case 0:
    case 1:
      return verb('claim', { session });
    case 2:
      return verb('claim', { dispatch: dice.pick(['d1', 'd2']), force: dice.chance(0.5) });
    case 3:
    case 4:
      return verb('renew', { session });
    case 5:
      return verb('extend', { ms: dice.pick([1, 3_600_000]), session });
    case 6:
      return verb('reserve', { session });
    case 7:
      return verb('release', {});
    case 8:
      return verb('status', { status: dice.pick(['active', 'open', 'done']) });
    case 9:
      return call('admin', 'POST', `/v1/nodes/${id}/break`, app, { reason: 'gone' });
    case 10: {
      const node = { id, type: 'task', status: 'open', project: dice.pick(['p1', 'p2', 'short']) };
      return call('admin', 'POST', '/v1/nodes', app, { nodes: [node], if_exists: 'update' });
    }
    default:
      return call(who, 'POST', '/v1/queue/renew', app, {});
  }
}

const sorted = (leases: readonly unknown[]) => leases.map((lease) => JSON.stringify(lease)).sort();

function shownBy(board: Board): string[] {
  return sorted(
    [...board.leases.values()].map(({ nodeId, by, agent, session, claimedAt, expiresAt, reserved, fence }) => [
      ...[nodeId, by.personId, agent?.agentId ?? null, session, claimedAt, expiresAt, reserved, fence],
    ]),
  );
}

async function listed(query: string): Promise<string[]> {
  const { leases } = await call('ana', 'GET', `/v1/leases?limit=500&${query}`, rig.apps[0] as App);
  return sorted(
    leases.map(({ node_id, by, agent = null, session, claimed_at, expires_at, reserved = false, fence }) => [
      ...[node_id, by, agent, session, claimed_at, expires_at, reserved, fence],
    ]),
  );
}

it('each board comes to show what GET /v1/leases lists', async () => {
  const seed = seedOfThisRun();
  const dice = createDice(seed);
  const ids = [...(await rig.doors.nodes(20)), ...(await rig.doors.nodes(6, { project: 'short' }))];
  const follow = () =>
    FILTERS.flatMap(([filter, query]) =>
      rig.apps.map((app) => ({ query, board: boardOf(rig.subscribe('cleo', FOLLOW_BOARD, { filter }, app)) })),
    );
  const boards = follow();
  for (let wave = 0; wave < WAVES; wave += 1) {
    if (wave === WAVES / 2) boards.push(...follow());
    await Promise.all(Array.from({ length: CALLS_A_WAVE }, () => randomCall(dice, ids)));
  }
  // What lapses has lapsed, so that the lists stand still.
  const soon = async () => listed('expiring_within_ms=5000');
  await until('all short leases lapsed', async () => (await soon()).length === 0);
  const marker = await rig.doors.node();
  await call('ana-one', 'POST', `/v1/nodes/${marker}/claim`, rig.apps[1] as App, { session: 's1' });
  const expected = new Map<string, string[]>();
  for (const [, query] of FILTERS) expected.set(query, await listed(query));
  expect(expected.get('')?.length).toBeGreaterThan(1);
  for (const { query, board } of boards) {
    await board.complete();
    const wanted = JSON.stringify(expected.get(query));
    await board
      .until(() => JSON.stringify(shownBy(board)) === wanted)
      .catch((error: unknown) => {
        expect(shownBy(board), `seed ${seed}, ${query}: ${error}`).toEqual(expected.get(query));
        throw error;
      });
  }
  // And stays there: what a board tells from now on begins with the next change.
  await call('ana-one', 'POST', `/v1/nodes/${marker}/release`, rig.apps[0] as App, {});
  for (const { query, board } of boards) {
    if (query === 'reserved=true') continue;
    expect(await board.next(), `seed ${seed}, ${query}`).toMatchObject({ nodeId: marker, lease: null });
  }
});
