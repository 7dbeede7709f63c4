import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { get } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type EventStream, openEventStream } from '../support/event-stream.ts';
import { createLiveRig, type LiveRig } from '../support/live-rig.ts';
import { until } from '../support/until.ts';

/** `GET /v1/events` as server-sent events. */
let rig: LiveRig;
const open: EventStream[] = [];
const children: ChildProcess[] = [];
beforeAll(async () => {
  rig = await createLiveRig(1);
});
afterEach(() => {
  for (const stream of open.splice(0)) stream.close();
  for (const child of children.splice(0)) child.kill();
});
afterAll(() => rig.close());

const url = () => rig.apps[0]?.url as string;

async function stream(query = '', headers: Record<string, string> = {}, who = 'cleo'): Promise<EventStream> {
  const opened = await openEventStream(`${url()}/v1/events${query}`, {
    Authorization: `Bearer ${rig.doors.token(who)}`,
    ...headers,
  });
  open.push(opened);
  return opened;
}

async function act(who: string, id: string, verb: string, body: object = {}): Promise<void> {
  expect(await rig.doors.rest(who, 'POST', `/v1/nodes/${id}/${verb}`, body)).toMatchObject({ status: 200 });
}

const page = async (after: string) => (await rig.doors.rest('cleo', 'GET', `/v1/events?after=${after}`)).body;
const latest = async () => (await page('0')).latest_seq as string;

const MANY_EVENTS = `
WITH place AS (UPDATE tenant SET seq = seq + $3::int WHERE tenant_id = $1 RETURNING seq - $3::int AS base, last_at)
INSERT INTO lease_event (tenant_id, seq, at, kind, node_id, project, status, batch)
SELECT $1, base + n, last_at, 'STATUS_CHANGED', $2, repeat('p', 200), 'open', 1 FROM place, generate_series(1, $3::int) n`;

/** A caller who opens the stream and reads nothing of it until asked to. */
function reader(of: string): Promise<{ rest(): Promise<string> }> {
  const headers = { Authorization: `Bearer ${rig.doors.token('cleo')}`, Accept: 'text/event-stream' };
  return new Promise((opened, failed) => {
    get(of, { headers }, (answer) => opened({ rest: () => readText(answer) })).on('error', failed);
  });
}

describe('the stream', () => {
  it('begins with a comment, tells where it stands, then what comes, as a page has it', async () => {
    const id = await rig.doors.node();
    const from = await latest();
    const events = await stream();
    expect(events.headers.get('Content-Type')).toBe('text/event-stream; charset=utf-8');
    expect(events.headers.get('Cache-Control')).toBe('no-store');
    expect(await events.next()).toMatchObject({ comment: 'holdfast' });
    expect(await events.next()).toEqual({ comment: 'keep-alive', id: from });
    await act('ana', id, 'claim', { session: 'run-1' });
    await act('ana', id, 'release');
    const told = [await events.next(), await events.next()];
    expect(told.map(({ event }) => event)).toEqual(['claimed', 'released']);
    expect(told.map(({ data }) => JSON.parse(data as string))).toEqual((await page(from)).events);
    expect(told.map((message) => message.id)).toEqual([String(Number(from) + 1), String(Number(from) + 2)]);
  });

  it('replays behind a cursor, then goes on; Last-Event-ID wins over after', async () => {
    const id = await rig.doors.node();
    const from = await latest();
    await act('ana', id, 'claim');
    await act('ana', id, 'reserve');
    const seen = async (events: EventStream, count: number) => {
      const seqs: (string | undefined)[] = [];
      while (seqs.length < count) {
        const message = await events.next();
        if (message.event !== undefined) seqs.push(message.id);
      }
      return seqs;
    };
    const next = (count: number) => Array.from({ length: count }, (_, index) => String(Number(from) + 1 + index));
    const all = await stream(`?after=${from}`);
    const rest = await stream('?after=0', { 'Last-Event-ID': String(Number(from) + 1) });
    await act('ana', id, 'release');
    expect(await seen(all, 3)).toEqual(next(3));
    expect(await seen(rest, 2)).toEqual(next(3).slice(1));
  });

  it('passes on only what the filter lets through', async () => {
    const [a = '', b = ''] = await rig.doors.nodes(2);
    const from = await latest();
    for (const id of [a, b]) await act('ana', id, 'claim');
    await act('ana', b, 'release');
    const events = await stream(`?after=${from}&node=${b}&kind=RELEASED&project=p1`);
    await events.next();
    expect(await events.next()).toMatchObject({ event: 'released', id: String(Number(from) + 3) });
  });

  it('tells a gap where the history is no longer kept, and what comes behind it', async () => {
    const [id = ''] = await rig.doors.nodes(1);
    await act('ana', id, 'claim');
    await act('ana', id, 'release');
    const last = await latest();
    await rig.doors.database.sql('DELETE FROM lease_event WHERE tenant_id = $1 AND seq < $2::bigint', 'acme', last);
    const events = await stream('?after=0');
    await events.next();
    const gap = await events.next();
    expect(gap).toMatchObject({ event: 'gap', id: String(Number(last) - 1) });
    expect(JSON.parse(gap.data as string)).toEqual({ oldest_seq: last, latest_seq: last });
    expect(await events.next()).toMatchObject({ event: 'released', id: last });
  });

  it.each([
    ['?after=', {}, 'after'],
    ['?after=x', {}, 'after'],
    ['?after=99999999', {}, 'after'],
    ['?after=0', { 'Last-Event-ID': '-1' }, 'Last-Event-ID'],
    ['', { 'Last-Event-ID': '99999999' }, 'Last-Event-ID'],
    ['?kind=claimed', {}, 'kind'],
  ])('refuses %s with %j before any event', async (query, headers, field) => {
    const answer = await fetch(`${url()}/v1/events${query}`, {
      headers: { Authorization: `Bearer ${rig.doors.token('cleo')}`, Accept: 'text/event-stream', ...headers },
    });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ error: { code: 'invalid_input', details: { field } } });
  });

  it('needs a token, and gives HEAD the headers alone', async () => {
    const headers = { Accept: 'text/event-stream' };
    expect((await fetch(`${url()}/v1/events`, { headers })).status).toBe(401);
    const Authorization = `Bearer ${rig.doors.token('cleo')}`;
    const head = await fetch(`${url()}/v1/events`, { method: 'HEAD', headers: { ...headers, Authorization } });
    expect(head.headers.get('Content-Type')).toMatch('text/event-stream');
    expect(await head.text()).toBe('');
  });

  it('ends with its token, and tells nothing of another tenant', async () => {
    const made = await rig.doors.graphql('admin', 'mutation { createToken(input: { personId: "bo" }) { token id } }');
    const { token, id: tokenId } = made.data.createToken;
    rig.doors.introduce('short', token);
    const [events, nextDoor] = [await stream('', {}, 'short'), await stream('', {}, 'zoe')];
    for (const each of [events, nextDoor]) await each.next();
    await act('ana', await rig.doors.node(), 'claim');
    await events.until(({ event }) => event === 'claimed');
    await rig.doors.graphql('admin', `mutation { revokeToken(input: { id: "${tokenId}" }) { id } }`);
    await events.ended;
    expect(nextDoor.all.filter(({ event }) => event !== undefined)).toEqual([]);
  });

  it('tells one that stops reading that it is too slow, and where to go on; the others are on time', async () => {
    const from = await latest();
    const slow = await reader(`${url()}/v1/events?after=${from}`);
    const [quick, id] = [await stream(`?after=${from}&kind=EDGE_ADDED`), await rig.doors.node()];
    await rig.doors.database.sql(MANY_EVENTS, 'acme', id, 40_000);
    // Rounds of the relay go by, a second each, in which nothing is read.
    for (const _round of [1, 2, 3]) {
      await rig.doors.database.sql(MANY_EVENTS.replaceAll('STATUS_CHANGED', 'EDGE_ADDED'), 'acme', id, 1);
      await quick.until(({ event }) => event === 'edge_added');
    }
    const text = await slow.rest();
    const [, last = ''] = /event: slow_consumer\ndata: {"last_seq":"(\d+)"}\n\n$/.exec(text) ?? [];
    const seqs = [...text.matchAll(/id: (\d+)\nevent: status_changed/g)].map(([, seq]) => Number(seq));
    expect(seqs).toEqual(Array.from({ length: Number(last) - Number(from) }, (_, index) => Number(from) + 1 + index));
    const resumed = await stream('', { 'Last-Event-ID': last });
    expect((await resumed.until(({ event }) => event === 'edge_added')).at(-1)).toMatchObject({ event: 'edge_added' });
  });

  it('ends with its server, whose stop does not wait for it', async () => {
    const app = await rig.start({ HOLDFAST_STOP_TIMEOUT: '60s' });
    const headers = { Authorization: `Bearer ${rig.doors.token('cleo')}` };
    const events = await openEventStream(`${app.url}/v1/events`, headers);
    await events.next();
    await Promise.all([app.stop(), events.ended]);
    (rig.apps as unknown[]).splice(rig.apps.indexOf(app), 1);
  });
});

describe.runIf(spawnSync('curl', ['--version']).status === 0)('curl -N', () => {
  it('follows along, and resumes behind the last id it saw', async () => {
    const id = await rig.doors.node();
    const first = curl();
    await until('curl has the headers', () => first.text().includes(': holdfast'));
    await act('ana', id, 'claim');
    await until('curl tells the claim', () => first.text().includes('"kind":"CLAIMED"'), { say: first.text });
    const [, seen = ''] = /id: (\d+)\nevent: claimed\n/.exec(first.text()) ?? [];
    first.stop();
    await act('ana', id, 'release');
    const second = curl('-H', `Last-Event-ID: ${seen}`);
    await until('curl tells the release', () => second.text().includes('event: released'), { say: second.text });
    expect(second.text()).toContain(`id: ${Number(seen) + 1}\nevent: released\n`);
    expect(second.text()).not.toContain('event: claimed');
  });

  function curl(...more: string[]) {
    const authorization = `Authorization: Bearer ${rig.doors.token('cleo')}`;
    const child = spawn('curl', [
      ...['-sN', `${url()}/v1/events`, '-H', authorization, '-H', 'Accept: text/event-stream', ...more],
    ]);
    children.push(child);
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    return { text: () => text, stop: () => child.kill() };
  }
});
