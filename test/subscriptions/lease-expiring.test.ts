import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLiveRig, type LiveRig, type Messages } from '../support/live-rig.ts';

const MINUTE = 60_000;

let rig: LiveRig;
let aheadMs = 0;
beforeAll(async () => {
  rig = await createLiveRig(2);
  await rig.doors.policy({ claim_ttl_ms: 10 * MINUTE, claim_ttl_max_ms: 60 * MINUTE, reserve_grace_ms: 20 * MINUTE });
  await rig.doors.policy({ claim_ttl_ms: MINUTE - 5_000 }, 'soon');
});
afterAll(() => rig.close());

const open: Messages[] = [];
beforeEach(() => call('ana', '/queue/release'));
afterEach(() => {
  for (const each of open.splice(0)) each.stop();
});

const EXPIRING = `subscription ($withinMs: Float!, $session: String) {
  leaseExpiring(withinMs: $withinMs, session: $session) {
    expiresInMs lease { nodeId fence session reserved expiresAt by { personId } }
  }
}`;

/** Verbs go to the first replica, subscribers to the second. */
const call = async (who: string, path: string, body: object = {}) => {
  const headers = { Authorization: `Bearer ${rig.doors.token(who)}`, 'Content-Type': 'application/json' };
  const url = `${rig.apps[0]?.url}/v1${path}`;
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(answer.status).toBe(200);
};

const follow = (who: string, variables: Record<string, unknown>, app = rig.apps[1]) => {
  const messages = rig.subscribe(who, EXPIRING, variables, app);
  open.push(messages);
  return messages;
};

/** Lets the database's clock run this much further ahead. */
const pass = async (ms: number) => {
  aheadMs += ms;
  await rig.doors.database.clock.runAhead(aheadMs);
};

const claimed = async (who: string, body: object = {}) => {
  const id = await rig.doors.node();
  await call(who, `/nodes/${id}/claim`, body);
  return id;
};

const told = (messages: Messages) => messages.all.map(({ data }) => data.leaseExpiring.lease.nodeId);

/** Takes a lease that is told at once, so that whatever was to be told of sooner ends was told. */
const marker = async (who: string, messages: Messages, body: object = {}) => {
  const id = await rig.doors.node({ project: 'soon' });
  await call(who, `/nodes/${id}/claim`, body);
  await messages.until(({ data }) => data.leaseExpiring.lease.nodeId === id);
  return id;
};

describe('the warning', () => {
  it('comes before the end and not sooner', async () => {
    const id = await claimed('ana', { session: 's1' });
    const warned = follow('ana-one', { withinMs: MINUTE });
    const first = await marker('ana', warned);
    await pass(9 * MINUTE - 500);
    const { expiresInMs, lease } = (await warned.next()).data.leaseExpiring;
    expect(lease).toMatchObject({ nodeId: id, fence: '1', session: 's1', reserved: false, by: { personId: 'ana' } });
    expect(expiresInMs).toBeLessThanOrEqual(MINUTE);
    expect(expiresInMs).toBeGreaterThan(MINUTE - 5_000);
    expect(told(warned)).toEqual([first, id]);
  });

  it('does not come for a lease that was renewed on another replica', async () => {
    const [kept, left] = [await claimed('ana'), await claimed('ana')];
    const warned = follow('ana', { withinMs: MINUTE });
    await pass(5 * MINUTE);
    await call('ana', `/nodes/${kept}/renew`);
    await pass(4.5 * MINUTE);
    const last = await marker('ana', warned);
    expect(told(warned)).toEqual([left, last]);
    await pass(4.5 * MINUTE);
    expect((await warned.next()).data.leaseExpiring.lease).toMatchObject({ nodeId: kept, fence: '1' });
  });

  it('comes once for each end', async () => {
    const id = await claimed('ana');
    const warned = follow('ana', { withinMs: 30 * MINUTE });
    await warned.next();
    const marks = [await marker('ana', warned), await marker('ana', warned)];
    expect(told(warned)).toEqual([id, ...marks]);
    await call('ana', `/nodes/${id}/extend`, { ms: 1_000 });
    await warned.until(({ data }) => data.leaseExpiring.lease.nodeId === id);
    const last = await marker('ana', warned);
    expect(told(warned)).toEqual([id, ...marks, id, last]);
    const [before, , , after] = warned.all.map(({ data }) => data.leaseExpiring.lease);
    expect(after.fence).toBe(before.fence);
    expect(Date.parse(after.expiresAt)).toBe(Date.parse(before.expiresAt) + 1_000);
  });

  it('comes at once for what is within that time already, the soonest end first, reservations too', async () => {
    const [leased, parked] = [await claimed('ana'), await claimed('ana')];
    await call('ana', `/nodes/${parked}/reserve`);
    for (const app of rig.apps) {
      const warned = follow('ana', { withinMs: 7 * 24 * 60 * MINUTE }, app);
      const messages = [await warned.next(), await warned.next()].map(({ data }) => data.leaseExpiring.lease);
      expect(messages).toMatchObject([
        { nodeId: leased, reserved: false },
        { nodeId: parked, reserved: true },
      ]);
    }
  });
});

describe('whom it tells', () => {
  it('tells no other person, and nobody of another tenant', async () => {
    const own = follow('ana', { withinMs: 30 * MINUTE });
    const others = follow('bo', { withinMs: 30 * MINUTE });
    const nextDoor = follow('zoe', { withinMs: 30 * MINUTE });
    await claimed('ana');
    await own.next();
    const mark = await marker('bo', others);
    expect(told(others)).toEqual([mark]);
    expect(nextDoor.all).toEqual([]);
  });

  it('tells only of leases bound to the session', async () => {
    const one = follow('ana', { withinMs: 30 * MINUTE, session: 'run-1' });
    const all = follow('ana', { withinMs: 30 * MINUTE });
    const ids = [await claimed('ana', { session: 'run-2' }), await claimed('ana')];
    for (const _ of ids) await all.next();
    const mark = await marker('ana', one, { session: 'run-1' });
    expect(told(one)).toEqual([mark]);
  });
});

it.each([0, -1, 7 * 24 * 60 * MINUTE + 1])('refuses %d ms before any message', async (withinMs) => {
  const warned = follow('ana', { withinMs });
  expect((await warned.next()).errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT', field: 'withinMs' } }]);
  expect(await warned.ended).toBeNull();
});
