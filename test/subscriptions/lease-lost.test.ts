import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLiveRig, type LiveRig, type Messages } from '../support/live-rig.ts';

let rig: LiveRig;
beforeAll(async () => {
  rig = await createLiveRig(2);
});
afterAll(() => rig.close());

const LOST = `subscription ($session: String, $after: String) {
  leaseLost(session: $session, after: $after) {
    nodeId fence reason by { personId } currentHolder { personId } currentFence at seq
  }
}`;

/** Calls go to the first replica, subscribers to the second. */
const call = async (who: string, path: string, body: object = {}, app = rig.apps[0]) => {
  const headers = { Authorization: `Bearer ${rig.doors.token(who)}`, 'Content-Type': 'application/json' };
  const answer = await fetch(`${app?.url}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
  return (await answer.json()) as { lease: { fence: string } };
};

const latest = async () => {
  const [row] = await rig.doors.database.sql<{ seq: string }>(`SELECT seq FROM tenant WHERE tenant_id = 'acme'`);
  return String(row?.seq);
};

const follow = (who: string, variables: Record<string, unknown>) => rig.subscribe(who, LOST, variables, rig.apps[1]);

const notices = (messages: Messages) => messages.all.map(({ data }) => data.leaseLost);

const claimed = async (who: string, body: object = {}) => {
  const id = await rig.doors.node();
  await call(who, `/nodes/${id}/claim`, body);
  return id;
};

/** Lets the lease of a node end now. */
const lapse = (id: string) =>
  rig.doors.database.sql(
    `UPDATE lease SET claimed_at = holdfast_now() - interval '1 h', expires_at = holdfast_now(), sweep_at = holdfast_now()
     WHERE node_id = $1`,
    id,
  );

/** A node of ana's that bo took when it had lapsed, before a sweep of the two replicas found it. */
async function taken(): Promise<string> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const id = await claimed('ana');
    await lapse(id);
    await call('bo', `/nodes/${id}/claim`);
    const [found] = await rig.doors.database.sql<{ actor_person: string | null }>(
      `SELECT actor_person FROM lease_event WHERE node_id = $1 AND kind = 'EXPIRED'`,
      id,
    );
    if (found?.actor_person === 'bo') return id;
  }
  throw new Error('the sweep was always first');
}

/** Ends with a loss of that person's, behind which nothing of before can come. */
async function lastLoss(who: string, messages: Messages): Promise<void> {
  const id = await claimed(who, { session: 'last' });
  await call('admin', `/nodes/${id}/break`);
  await messages.until(({ data }) => data.leaseLost.nodeId === id);
}

const free = { currentHolder: null, currentFence: null };
const heldBy = (personId: string) => ({ currentHolder: { personId }, currentFence: '2' });

const eitherOf = (one: typeof free, other: ReturnType<typeof heldBy>) => ({
  currentHolder: expect.toBeOneOf([one.currentHolder, other.currentHolder]),
  currentFence: expect.toBeOneOf([one.currentFence, other.currentFence]),
});

describe('why a lease was lost', () => {
  const cases: readonly {
    readonly loss: string;
    readonly lose: () => Promise<string>;
    readonly told: object;
  }[] = [
    {
      loss: 'EXPIRED, found by a sweep',
      async lose() {
        const id = await claimed('ana');
        await lapse(id);
        return id;
      },
      told: { fence: '1', reason: 'EXPIRED', by: null, ...free },
    },
    {
      loss: 'EXPIRED, found by a call of another that took nothing',
      async lose() {
        const id = await claimed('ana');
        await lapse(id);
        await call('bo', `/nodes/${id}/release`);
        return id;
      },
      told: { fence: '1', reason: 'EXPIRED', by: null, ...free },
    },
    {
      loss: 'EXPIRED, found by a verb of its own that took it again',
      async lose() {
        const id = await claimed('ana');
        await lapse(id);
        await call('ana', `/nodes/${id}/renew`);
        return id;
      },
      // A sweep may have told of it before.
      told: { fence: '1', reason: 'EXPIRED', by: null, ...eitherOf(free, heldBy('ana')) },
    },
    {
      loss: 'TAKEN by a grant to another',
      lose: taken,
      told: { fence: '1', reason: 'TAKEN', by: { personId: 'bo' }, ...heldBy('bo') },
    },
    {
      loss: 'SUPERSEDED by another launch',
      async lose() {
        const id = await claimed('ana-one', { dispatch: 'launch-1' });
        await call('ana-two', `/nodes/${id}/claim`, { dispatch: 'launch-2', force: true });
        return id;
      },
      told: { fence: '1', reason: 'SUPERSEDED', by: { personId: 'ana' }, ...heldBy('ana') },
    },
    {
      loss: 'BROKEN by an admin',
      async lose() {
        const id = await claimed('ana');
        await call('ana', `/nodes/${id}/reserve`);
        await call('admin', `/nodes/${id}/break`);
        return id;
      },
      told: { fence: '1', reason: 'BROKEN', by: { personId: 'admin' }, ...free },
    },
    {
      loss: 'RELEASED_ELSEWHERE by a call that named nothing',
      async lose() {
        const id = await claimed('ana-one', { session: 's1' });
        await call('ana-two', `/nodes/${id}/release`);
        return id;
      },
      told: { fence: '1', reason: 'RELEASED_ELSEWHERE', by: { personId: 'ana' }, ...free },
    },
    {
      loss: 'RELEASED_ELSEWHERE by a drain that named no session',
      async lose() {
        const id = await claimed('ana-one', { session: 's1' });
        await call('ana-two', '/queue/release');
        return id;
      },
      told: { fence: '1', reason: 'RELEASED_ELSEWHERE', by: { personId: 'ana' }, ...free },
    },
  ];

  it.each(cases)('$loss', async ({ lose, told }) => {
    const lost = follow('ana-one', { after: await latest() });
    const id = await lose();
    await lost.until(({ data }) => data.leaseLost.nodeId === id);
    const [row] = await rig.doors.database.sql<{ seq: string; at: Date }>(
      `SELECT seq, at FROM lease_event WHERE node_id = $1 AND kind IN ('EXPIRED', 'SUPERSEDED', 'BROKEN', 'RELEASED')`,
      id,
    );
    const notice = notices(lost).filter(({ nodeId }) => nodeId === id);
    expect(notice).toEqual([{ nodeId: id, ...told, at: row?.at.toISOString(), seq: row?.seq }]);
    lost.stop();
  });

  it('says nothing of a lease that the call named by its fence, or in a drain by its session', async () => {
    const lost = follow('ana', { after: await latest() });
    const [a, b] = await rig.doors.nodes(2);
    const { lease } = await call('ana', `/nodes/${a}/claim`);
    await call('ana', `/nodes/${a}/release`, { fence: lease.fence });
    await call('ana', `/nodes/${b}/claim`, { session: 's1' });
    await call('ana', '/queue/release', { session: 's1' });
    await lastLoss('ana', lost);
    expect(lost.all).toHaveLength(1);
    lost.stop();
  });
});

describe('whom it tells', () => {
  it('tells no other person, and nobody of another tenant', async () => {
    const after = await latest();
    const own = follow('ana', { after });
    const others = follow('bo', { after });
    const nextDoor = follow('zoe', { after: '0' });
    const id = await claimed('ana');
    await call('admin', `/nodes/${id}/break`);
    await own.next();
    await lastLoss('bo', others);
    expect(others.all).toHaveLength(1);
    expect(nextDoor.all).toEqual([]);
    for (const each of [own, others, nextDoor]) each.stop();
  });

  it('tells only of leases that were bound to the session when they ended', async () => {
    const after = await latest();
    const one = follow('ana', { after, session: 'run-1' });
    const last = follow('ana', { after, session: 'last' });
    const [a, b, c] = await rig.doors.nodes(3);
    await call('ana', `/nodes/${a}/claim`, { session: 'run-1' });
    await call('ana', `/nodes/${b}/claim`, { session: 'run-2' });
    await call('ana', `/nodes/${c}/claim`, { session: 'run-1' });
    await call('ana', `/nodes/${c}/renew`, { session: 'run-2' });
    for (const id of [b, c, a]) await call('admin', `/nodes/${id}/break`);
    await one.next();
    await lastLoss('ana', last);
    expect(notices(one).map(({ nodeId }) => nodeId)).toEqual([a]);
    expect(last.all).toHaveLength(1);
    for (const each of [one, last]) each.stop();
  });
});

describe('cursors', () => {
  it('B44: what was lost while nobody listened is told once on resuming, and then what is lost from now on', async () => {
    const [a, b, c] = await rig.doors.nodes(3);
    for (const id of [a, b, c]) await call('ana', `/nodes/${id}/claim`);
    const first = follow('ana', { after: await latest() });
    await call('admin', `/nodes/${a}/break`);
    const seen = (await first.next()).data.leaseLost.seq;
    first.stop();
    const others = await rig.doors.nodes(25);
    await call('bo', '/queue/claim', { ids: others });
    await call('admin', `/nodes/${b}/break`);
    await call('bo', '/queue/release');
    const again = rig.subscribe('ana', LOST, { after: seen }, rig.apps[0]);
    expect((await again.next()).data.leaseLost).toMatchObject({ nodeId: b, reason: 'BROKEN' });
    await call('admin', `/nodes/${c}/break`);
    expect((await again.next()).data.leaseLost).toMatchObject({ nodeId: c, reason: 'BROKEN' });
    await lastLoss('ana', again);
    expect(again.all).toHaveLength(3);
    again.stop();
  });

  it('reads who holds the node when it sends, not when it was lost', async () => {
    const after = await latest();
    const id = await claimed('ana');
    await call('admin', `/nodes/${id}/break`);
    await call('cleo', `/nodes/${id}/claim`);
    const lost = follow('ana', { after });
    const told = { fence: '1', reason: 'BROKEN', ...heldBy('cleo') };
    expect((await lost.next()).data.leaseLost).toMatchObject(told);
    lost.stop();
  });

  it('without a cursor tells only what is lost from now on', async () => {
    const before = Number(await latest());
    const lost = follow('ana', {});
    while (lost.all.length === 0) {
      const id = await claimed('ana');
      await call('admin', `/nodes/${id}/break`);
    }
    expect(Number(notices(lost)[0].seq)).toBeGreaterThan(before);
    lost.stop();
  });

  it.each(['', 'x', '-1', '1.5', '999999999'])('refuses the cursor %j before any message', async (after) => {
    const lost = follow('ana', { after });
    const { errors } = await lost.next();
    expect(errors).toMatchObject([{ extensions: { code: 'INVALID_CURSOR', field: 'after' } }]);
    expect(await lost.ended).toBeNull();
    expect(lost.all).toHaveLength(1);
  });

  it('refuses a cursor that is too old, and says what is kept', async () => {
    await rig.doors.database.sql(`DELETE FROM lease_event WHERE tenant_id = 'acme' AND seq <= 5`);
    const latestSeq = await latest();
    const lost = follow('ana', { after: '4' });
    const { errors } = await lost.next();
    expect(errors).toMatchObject([{ extensions: { code: 'CURSOR_TOO_OLD', oldestSeq: '6', latestSeq } }]);
    expect(await lost.ended).toBeNull();
    expect(lost.all).toHaveLength(1);
    const oldest = follow('ana', { after: '5' });
    await lastLoss('ana', oldest);
    expect(JSON.stringify(oldest.all)).not.toContain('errors');
    oldest.stop();
  });
});
