import { z } from 'zod';
import { EVENT_KINDS } from '../lease/event.ts';
import { listEvents } from '../read/lease-events.ts';
import type { RestParts } from './door.ts';
import { RestError } from './errors.ts';
import { event, eventJson, seq } from './event-json.ts';
import { eventStream } from './event-stream.ts';
import type { Routes } from './routes.ts';

/** The history: `GET /v1/events`, a page at a time or as it happens. */
const PAGE = 100;
const MOST_ON_PAGE = 500;

const cursor = z
  .string('must be given once')
  .regex(/^\d{1,18}$/, 'must be a seq: a decimal number')
  .optional();

const headers = z.object({
  'Last-Event-ID': cursor.describe(
    'The seq to resume behind; wins over `after`. Clients of server-sent events send it.',
  ),
});

const query = z.object({
  after: cursor.describe('Events behind this seq. Left out: a page begins with the oldest, a stream with what comes.'),
  limit: z.coerce
    .number('must be a whole number')
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .default(PAGE)
    .transform((limit) => Math.min(limit, MOST_ON_PAGE))
    .describe(`How many at most; above ${MOST_ON_PAGE} means ${MOST_ON_PAGE}. A stream has no end.`),
  node: z.string('must be given once').optional().describe('Of this node.'),
  kind: z.enum(EVENT_KINDS, 'must be a kind of event, in capitals').optional().describe('Of this kind.'),
  project: z.string('must be given once').optional().describe('Of nodes that were in this project.'),
});

const answer = z
  .object({
    events: z.array(event).describe('The events, the oldest first.'),
    next_after: seq.describe('Where to go on: nothing that passes the filter lies between the last event and it.'),
    oldest_seq: seq.describe('The first event that is kept.'),
    latest_seq: seq.describe('The last event that was written.'),
    gap: z
      .literal(true)
      .optional()
      .describe('Present when events between `after` and the first here are no longer kept.'),
  })
  .meta({ id: 'LeaseEvents', description: 'A page of the history.' });

const DESCRIPTION =
  `With \`Accept: text/event-stream\` the answer is a stream of server-sent events: \`id\` is the seq, \`event\`
the kind in small letters, \`data\` the event as on a page. \`gap\` with \`oldest_seq\` and \`latest_seq\` stands for what is no
longer kept; \`slow_consumer\` with \`last_seq\` is the last event of a caller that did not keep up. A comment comes at
the start and each 15 s without an event. The stream ends with the token.`.replaceAll('\n', ' ');

export function eventRoutes(routes: Routes, { reads, live, streams, tokens }: RestParts): void {
  routes.add(
    {
      ...{ method: 'GET', path: '/v1/events', name: 'listEvents', tag: 'leases', query, headers, answer },
      ...{ summary: 'What happened, in the order of the commits.', description: DESCRIPTION, streams: true },
    },
    async (c, { headers: { 'Last-Event-ID': lastEventId }, query: { after: text, limit, node, kind, project } }) => {
      const identity = c.get('identity');
      const filter = {
        nodeIds: node === undefined ? null : [node],
        kinds: kind === undefined ? null : [kind],
        project,
      };
      if (asksForStream(c.req.header('Accept'))) {
        const from = lastEventId ?? text ?? null;
        const stream = await eventStream(live, identity.tenantId, from === null ? null : BigInt(from), filter);
        if ('latestSeq' in stream) {
          throw beyond(lastEventId === undefined ? 'after' : 'Last-Event-ID', from, stream.latestSeq);
        }
        const kept = streams.keep(c.req.raw.method, stream, (end) => tokens.add(identity, end));
        return c.newResponse(kept.body, kept);
      }
      const after = BigInt(text ?? 0);
      const page = await listEvents(reads, identity.tenantId, after, filter, limit);
      if (after > page.latestSeq) throw beyond('after', after, page.latestSeq);
      const last = page.events.at(-1)?.seq;
      return {
        events: page.events.map(eventJson),
        next_after: String(page.hasMore && last !== undefined ? last : later(last, page.latestSeq)),
        oldest_seq: String(page.oldestSeq),
        latest_seq: String(page.latestSeq),
        ...(page.gap && { gap: true as const }),
      };
    },
  );
}

function asksForStream(accept = ''): boolean {
  return accept.split(',').some((type) => /^\s*text\/event-stream\s*(;|$)/i.test(type));
}

function beyond(field: string, cursor: string | bigint | null, latest: bigint): RestError {
  return new RestError('invalid_input', `${field} is ${cursor}, and the latest event is ${latest}.`, { field });
}

/** The bounds were read first, so an event may be newer than the latest they knew. */
function later(last: bigint | undefined, latest: bigint): bigint {
  return last !== undefined && last > latest ? last : latest;
}
