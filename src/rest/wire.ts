import { z } from 'zod';
import { renewAfterMs } from '../lease/lease.ts';
import type { Held, Released } from '../lease/outcome.ts';
import type { LeaseView } from '../lease/refusal.ts';

/** The JSON of the REST door: names and forms as the reference page has them. The schemas are what `/openapi.json` shows. */
export const instant = z.string().meta({ format: 'date-time' });
export const nodeIdText = z.string().meta({ pattern: '^[a-z0-9][a-z0-9-]*$', maxLength: 200 });

export const lease = z
  .object({
    node_id: z.string().describe('The node that is held.'),
    by: z.string().describe('The id of the person who holds it.'),
    by_name: z.string().describe('The name of that person.'),
    agent: z.string().optional().describe('The agent that made the last successful call; absent for the own token.'),
    session: z.string().nullable().describe('The run that the lease is bound to; null for the person as a whole.'),
    claimed_at: instant.describe('When it was granted: ISO 8601, UTC, with milliseconds.'),
    expires: z.int().describe('When it ends: epoch milliseconds. In force as long as now is before it.'),
    expires_at: instant.describe('The same end: ISO 8601, UTC, with milliseconds.'),
    reserved: z.literal(true).optional().describe('Present on a reservation.'),
    fence: z.string().describe('A decimal number that rises by every grant on the node and never repeats.'),
  })
  .meta({ id: 'Lease', description: 'Who holds a node, and until when.' });

/** The fields that an answer has when an ordinary lease is in force. */
export const heartbeatFields = {
  expires_in_ms: z.int().describe('Time left at the moment of the answer, milliseconds.'),
  renew_after_ms: z
    .int()
    .optional()
    .describe('When the server wants the next heartbeat, milliseconds from now; absent on a reservation.'),
};

const held = z.object({
  ok: z.literal(true).describe('Always true.'),
  lease: lease.describe('The lease that the caller holds now.'),
  ...heartbeatFields,
});
const status = (word: Held['status']) => z.literal(word).describe('What was done.');
const reclaimed = z
  .literal(true)
  .optional()
  .describe('Present when nobody held the node, so that it was taken on the way.');

export const claimed = held
  .extend({
    status: status('claimed'),
    edge: z.enum(['added', 'skipped']).describe('Whether the assigned edge was written now or stood already.'),
  })
  .meta({ id: 'Claimed', description: 'The caller holds the node.' });
export const renewed = held
  .extend({ status: status('renewed'), reclaimed })
  .meta({ id: 'Renewed', description: 'The caller goes on holding the node, or holds it again.' });
export const extended = held
  .extend({
    status: status('extended'),
    reclaimed,
    capped_to_max: z.literal(true).optional().describe('Present when the end was cut to the longest claim.'),
    claim_ttl_max_ms: z.number().optional().describe('The longest claim, milliseconds; present when the end was cut.'),
  })
  .meta({ id: 'Extended', description: 'The lease ends later.' });
export const reserved = held
  .extend({
    status: status('reserved'),
    reclaimed,
    grace_window_ms: z.number().describe('How long the reservation stands, milliseconds.'),
  })
  .meta({ id: 'Reserved', description: 'The node is parked for the caller.' });
export const released = z
  .object({
    ok: z.literal(true).describe('Always true.'),
    status: z.literal('released').describe('What was done.'),
    node_id: z.string().describe('The node, as the caller wrote it.'),
    edge: z.enum(['removed', 'skipped']).describe('Whether there was an assigned edge of the caller to take away.'),
  })
  .meta({ id: 'Released', description: 'The caller does not hold the node any more.' });

export type LeaseJson = z.output<typeof lease>;

/** The names of people, by id; a holder without one is shown by id. */
export type Names = ReadonlyMap<string, string>;

export function leaseJson(shown: LeaseView, names: Names): LeaseJson {
  return {
    node_id: shown.nodeId,
    by: shown.holder,
    by_name: names.get(shown.holder) ?? shown.holder,
    ...(shown.agent !== null && { agent: shown.agent }),
    session: shown.session,
    claimed_at: new Date(shown.claimedAt).toISOString(),
    expires: shown.expiresAt,
    expires_at: new Date(shown.expiresAt).toISOString(),
    ...(shown.reserved && { reserved: true as const }),
    fence: String(shown.fence),
  };
}

/** The answer of claim, renew, extend and reserve. */
export function heldJson(outcome: Held, names: Names): Record<string, unknown> {
  const { cappedToMs, graceWindowMs } = outcome;
  return {
    ok: true,
    status: outcome.status,
    lease: leaseJson(outcome.lease, names),
    ...heartbeatJson(outcome.lease),
    ...(outcome.edge !== null && { edge: outcome.edge }),
    ...(outcome.reclaimed && { reclaimed: true }),
    ...(cappedToMs !== null && { capped_to_max: true, claim_ttl_max_ms: cappedToMs }),
    ...(graceWindowMs !== null && { grace_window_ms: graceWindowMs }),
  };
}

/** The time left, and when the server wants the next heartbeat; a reservation wants none. */
export function heartbeatJson({ expiresInMs, reserved: parked }: LeaseView): HeartbeatJson {
  return {
    expires_in_ms: expiresInMs,
    ...(!parked && { renew_after_ms: renewAfterMs(expiresInMs, Math.random()) }),
  };
}

interface HeartbeatJson {
  readonly expires_in_ms: number;
  readonly renew_after_ms?: number;
}

export function releasedJson(nodeId: string, { edge }: Released): z.output<typeof released> {
  return { ok: true, status: 'released', node_id: nodeId, edge };
}
