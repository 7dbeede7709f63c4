import { get, type IncomingMessage } from 'node:http';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDoors } from '../../src/app.ts';
import { createLive, type Live } from '../../src/events/live.ts';
import { type HttpServer, listen } from '../../src/http.ts';
import { createTokenWatch, type TokenWatch } from '../../src/identity/token-watch.ts';
import type { OpenStreams } from '../../src/rim/open-streams.ts';
import { createDoorsRig, type Doors } from '../support/doors.ts';
import { connectTo } from '../support/rig.ts';
import { until } from '../support/until.ts';

/** Streams of server-sent events, by either door, leave nothing behind. */
const log = pino({ level: 'silent' });
let doors: Doors;
let clients: ReturnType<typeof connectTo>;
let live: Live;
let tokens: TokenWatch;
let streams: OpenStreams;
let http: HttpServer;
beforeAll(async () => {
  doors = await createDoorsRig();
  clients = connectTo(doors.database.url, 4);
  live = createLive(clients.reads, log);
  tokens = createTokenWatch({ reads: clients.reads, log });
  const made = createDoors(clients, doors.engine, log, live, tokens);
  streams = made.streams;
  http = await listen(made.fetch, '127.0.0.1', 0);
});
afterAll(async () => {
  await http.stop(1_000);
  await clients.close();
  await doors.close();
});

const QUERY = encodeURIComponent('subscription { leaseEvents { __typename } }');
const counts = () => [streams.open, tokens.watched, live.relay.subscribers];

function open(path: string, method = 'GET'): Promise<IncomingMessage> {
  const headers = { Authorization: `Bearer ${doors.token('ana')}`, Accept: 'text/event-stream' };
  return new Promise((answered, failed) => {
    get(http.url + path, { method, headers, agent: false }, answered).on('error', failed);
  });
}

it.each([
  ['REST', '/v1/events'],
  ['GraphQL', `/graphql?query=${QUERY}`],
])('%s: nothing is left of callers that vanish, and of those that only ask for the headers', async (_name, path) => {
  const answers = await Promise.all(Array.from({ length: 60 }, () => open(path)));
  for (const answer of answers) {
    expect(answer.headers['content-type']).toMatch('text/event-stream');
    answer.on('error', () => {});
  }
  for (const answer of answers.slice(20)) answer.resume();
  await until('all follow', () => counts().every((count) => count === 60), { say: () => String(counts()) });
  expect((await open(path, 'HEAD')).statusCode).toBe(200);
  expect(counts()).toEqual([60, 60, 60]);
  for (const [index, answer] of answers.entries()) {
    if (index % 2 === 0) answer.destroy();
    else answer.socket.resetAndDestroy();
  }
  await until('nothing is left', () => counts().every((count) => count === 0), { say: () => String(counts()) });
});

it('a stop ends what is open, and what comes after it', async () => {
  const answer = await open('/v1/events');
  const ended = new Promise((resolve) => answer.resume().once('end', resolve));
  await until('it follows', () => live.relay.subscribers === 1);
  streams.stop();
  await ended;
  const late = await open('/v1/events');
  await new Promise((resolve) => late.resume().once('end', resolve));
  await until('nothing is left', () => counts().every((count) => count === 0), { say: () => String(counts()) });
});
