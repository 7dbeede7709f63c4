import { z } from 'zod';
import { EVENT_KINDS } from '../lease/event.ts';
import type { EventRead } from '../read/lease-events.ts';
import { instant, nodeIdText } from './wire.ts';

/** An event as REST tells it, on a page and in a stream. */
export const seq = z.string().meta({ pattern: '^\\d+$' });

export const event = z
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

export function eventJson(read: EventRead): z.output<typeof event> {
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
