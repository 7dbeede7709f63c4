import { z } from 'zod';
import { EVENT_KINDS } from '../lease/event.ts';
import { type EventRead, listEvents } from '../read/lease-events.ts';
import type { RestParts } from './door.ts';
import { RestError } from './errors.ts';
import type { Routes } from './routes.ts';
import { instant, nodeIdText } from './wire.ts';

/** The history: `GET /v1/events`. */
const PAGE = 100;
const MOST_ON_PAGE = 500;

const seq = z.string().meta({ pattern: '^\\d+$' });

const query = z.object({
  after: z
    .string('must be given once')
    .regex(/^\d{1,18}$/, 'must be a seq: a decimal number')
    .default('0')
    .describe('Events behind this seq; from the oldest when left out.'),
  limit: z.coerce
    .number('must be a whole number')
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .default(PAGE)
    .transform((limit) => Math.min(limit, MOST_ON_PAGE))
    .describe(`How many at most; above ${MOST_ON_PAGE} means ${MOST_ON_PAGE}.`),
  node: z.string('must be given once').optional().describe('Of this node.'),
  kind: z.enum(EVENT_KINDS, 'must be a kind of event, in capitals').optional().describe('Of this kind.'),
  project: z.string('must be given once').optional().describe('Of nodes that were in this project.'),
});

const event = z
  .object({
    seq: seq.describe("Its place in the tenant's history: a decimal number, without holes."),
    at: instant.describe('When it was committed: ISO 8601, UTC, with milliseconds. Rises with seq.'),
    kind: z.enum(EVENT_KINDS).describe('What happened.'),
    node_id: nodeIdText.describe('The node.'),
    holder: z.string().nullable().describe('The id of the person who held the lease; null where no lease is meant.'),
    session: z.string().nullable().describe('The run that the lease was bound to; null for none.'),
    fence: z.string().nullable().describe('The fence of the lease; null where no lease is meant.'),
    actor: z
      .object({
        person: z.string().describe('The id of the person who called.'),
        agent: z.string().nullable().describe("The agent that acted for the person; null for the person's own token."),
      })
      .nullable()
      .describe('Who called; null for the sweep.'),
    expires_at: instant
      .nullable()
      .describe('The end that the lease had, or got: ISO 8601, UTC, with milliseconds; null where no lease is meant.'),
    reserved: z.boolean().describe('Whether the lease was a reservation.'),
    status: z.string().nullable().describe('The status that the node got; null where none was set.'),
    reason: z.string().optional().describe('Why an admin ended the lease, where one said so.'),
  })
  .meta({ id: 'LeaseEvent', description: 'Something that happened to a lease or to its node.' });

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

export function eventRoutes(routes: Routes, { reads }: RestParts): void {
  routes.add(
    {
      ...{ method: 'GET', path: '/v1/events', name: 'listEvents', tag: 'leases', query, answer },
      summary: 'What happened, in the order of the commits.',
    },
    async (c, { query: { after: text, limit, node, kind, project } }) => {
      const after = BigInt(text);
      const filter = {
        nodeIds: node === undefined ? null : [node],
        kinds: kind === undefined ? null : [kind],
        project,
      };
      const page = await listEvents(reads, c.get('identity').tenantId, after, filter, limit);
      if (after > page.latestSeq) {
        throw new RestError('invalid_input', `after is ${after}, and the latest event is ${page.latestSeq}.`, {
          field: 'after',
        });
      }
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

/** The bounds were read first, so an event may be newer than the latest they knew. */
function later(last: bigint | undefined, latest: bigint): bigint {
  return last !== undefined && last > latest ? last : latest;
}

function eventJson(read: EventRead): z.output<typeof event> {
  const {
    seq: place,
    at,
    kind,
    nodeId,
    holder,
    session,
    fence,
    actorPerson,
    actorAgent,
    expiresAt,
    reserved,
    status,
    reason,
  } = read;
  return {
    ...{ seq: String(place), at: new Date(at).toISOString(), kind, node_id: nodeId, holder, session },
    fence: fence === null ? null : String(fence),
    actor: actorPerson === null ? null : { person: actorPerson, agent: actorAgent },
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    ...{ reserved, status },
    ...(reason !== null && { reason }),
  };
}
