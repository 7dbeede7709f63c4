import { afterAll, beforeAll, expect, it } from 'vitest';
import { createExpiry } from '../../src/events/expiry.ts';
import { claim } from '../support/commands.ts';
import { FOLLOW, range } from '../support/follow-seqs.ts';
import { ana, bo, connectTo, TENANT } from '../support/rig.ts';
import { createSocketRig, type SocketRig } from '../support/socket-rig.ts';

/** A server whose sweep does not run, and is started, stopped and started again in the middle of traffic. */
let rig: SocketRig;
beforeAll(async () => {
  rig = await createSocketRig();
  await rig.doors.policy({ claim_ttl_ms: 1_000 }, 'short');
});
afterAll(() => rig.close());

it('tells each lapse once, whether the sweep finds it late or a claim before it', async () => {
  const clients = connectTo(rig.doors.database.url, 2);
  const expiry = createExpiry({ engine: rig.doors.engine, reads: clients.reads, log: { warn: () => {} } });
  const ids = await rig.doors.nodes(40, { project: 'short' });
  const socket = await rig.letIn('cleo');
  socket.send({ id: '1', type: 'subscribe', payload: { query: FOLLOW } });
  await socket.next();
  const events: { seq: string; kind: string; nodeId: string }[] = [];
  const told = async (count: number) => {
    while (events.length < count) events.push((await socket.next()).payload.data.leaseEvents);
  };
  const claimAll = (nodeIds: readonly string[], who = ana) =>
    rig.doors.engine.execute(
      TENANT,
      nodeIds.map((id) => claim(id, who)),
    );

  // While the sweep runs.
  expiry.start();
  await claimAll(ids);
  await told(80);
  await expiry.stop();
  // While it is paused: what lapses is found by others' claims, or not at all.
  await claimAll(ids);
  await rig.doors.database.clock.runAhead(60_000);
  await claimAll(ids.slice(0, 10), bo);
  await told(80 + 40 + 20);
  expect(events.slice(120).map(({ kind }) => kind)).toEqual(
    Array.from({ length: 10 }, () => ['EXPIRED', 'CLAIMED']).flat(),
  );
  // And when it goes on.
  expiry.start();
  await told(140 + 30 + 10);
  await expiry.stop();
  expect(events.map(({ seq }) => Number(seq))).toEqual(range(0, 180));
  for (const [index, id] of ids.entries()) {
    const kinds = events.filter(({ nodeId }) => nodeId === id).map(({ kind }) => kind);
    const turns = index < 10 ? 3 : 2;
    expect(kinds).toEqual(Array.from({ length: turns }, () => ['CLAIMED', 'EXPIRED']).flat());
  }
  await clients.close();
});
