import { afterAll, beforeAll, expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import { FOLLOW, range, seqsOf } from '../support/follow-seqs.ts';
import { createLiveRig, type LiveRig, type Messages } from '../support/live-rig.ts';
import { callOnce } from '../support/rest-client.ts';
import { createProcessRig, type ProcessRig, type ServerProcess } from '../support/server-process.ts';
import { until } from '../support/until.ts';

/** A replica is killed and started again in the middle of traffic, while its clients go to and fro. */
const CLIENTS = 5;
const ROUNDS = 3;
let rig: LiveRig;
let processes: ProcessRig;
beforeAll(async () => {
  rig = await createLiveRig(1);
  processes = createProcessRig();
});
afterAll(async () => {
  await processes.close();
  await rig.close();
});

const start = () => processes.serve({ DATABASE_URL: rig.doors.database.url });

/** A client that has seen so much, and follows some replica. */
interface Client {
  readonly seqs: number[];
  messages: Messages;
}

it('those that resume on another replica miss nothing and see nothing twice', { timeout: 120_000 }, async () => {
  const [here] = rig.apps as [App];
  let mortal: ServerProcess = await start();
  const clients: Client[] = [];
  for (let index = 0; index < CLIENTS; index += 1) {
    clients.push({ seqs: [], messages: rig.subscribe('cleo', FOLLOW, { after: '0' }, asApp(mortal)) });
  }
  const resume = (server: { readonly url: string }) => {
    for (const client of clients) {
      client.messages.stop();
      client.seqs.push(...seqsOf(client.messages));
      const after = String(client.seqs.at(-1) ?? 0);
      client.messages = rig.subscribe('cleo', FOLLOW, { after }, asApp(server));
    }
  };
  const id = await rig.doors.node();
  const goOn = new AbortController();
  const traffic = (async () => {
    while (!goOn.signal.aborted) {
      for (const verb of ['claim', 'release']) {
        await callOnce(here.url, rig.doors.token('ana'), 'POST', `/v1/nodes/${id}/${verb}`, {});
      }
    }
  })();

  const seen = (each: Client) => each.seqs.length + seqsOf(each.messages).length;
  for (let round = 0; round < ROUNDS; round += 1) {
    const [first] = clients as [Client];
    const before = seen(first);
    await until('some events were seen there', () => seen(first) > before + 20);
    mortal.signal('SIGKILL');
    for (const { messages } of clients) expect(await messages.ended).not.toBeNull();
    resume(here);
    mortal = await start();
    resume(mortal);
  }
  goOn.abort();
  await traffic;
  const [row] = await rig.doors.database.sql<{ seq: string }>(`SELECT seq FROM tenant WHERE tenant_id = 'acme'`);
  const last = Number(row?.seq);
  for (const client of clients) {
    await until('the last event is seen', () => seqsOf(client.messages).includes(last) || client.seqs.includes(last));
    expect([...client.seqs, ...seqsOf(client.messages)]).toEqual(range(0, last));
  }
});

/** What following it takes. */
function asApp({ url }: { readonly url: string }): App {
  return { url } as App;
}
