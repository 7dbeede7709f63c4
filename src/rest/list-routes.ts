import { z } from 'zod';
import { listLeases } from '../read/lease-list.ts';
import { namesOf, type RestParts } from './door.ts';
import type { Routes } from './routes.ts';
import { lease, leaseJson } from './wire.ts';

/** Who holds what: `GET /v1/leases`. */
const PAGE = 100;
const MOST_ON_PAGE = 500;

const count = (text: string) => z.coerce.number(text).int(text);

const query = z.object({
  person: z.string('must be given once').optional().describe('Held by this person.'),
  agent: z.string('must be given once').optional().describe('Last acted on by this agent.'),
  session: z.string('must be given once').optional().describe('Bound to exactly this run.'),
  project: z.string('must be given once').optional().describe('Of nodes in this project.'),
  node: z.string('must be given once').optional().describe('Of this node.'),
  reserved: z
    .enum(['true', 'false'], 'must be true or false')
    .optional()
    .describe('Only reservations, or only ordinary leases.'),
  expiring_within_ms: z.coerce
    .number('must be a number of milliseconds')
    .min(0, 'must be 0 or more')
    .optional()
    .describe('Ending within this time from now, milliseconds.'),
  limit: count('must be a whole number')
    .min(1, 'must be at least 1')
    .default(PAGE)
    .transform((limit) => Math.min(limit, MOST_ON_PAGE))
    .describe(`How many at most; above ${MOST_ON_PAGE} means ${MOST_ON_PAGE}.`),
  cursor: z.string('must be given once').optional().describe('The `next_cursor` of the page before; none to begin.'),
});

const answer = z
  .object({
    leases: z.array(lease).describe('The leases in force, the oldest grant first.'),
    next_cursor: z.string().nullable().describe('Where the next page begins; null on the last one.'),
  })
  .meta({ id: 'Leases', description: 'A page of the leases in force.' });

export function listRoutes(routes: Routes, parts: RestParts): void {
  routes.add(
    {
      ...{ method: 'GET', path: '/v1/leases', name: 'listLeases', tag: 'leases', query, answer },
      summary: 'Who holds what.',
      description:
        'All filters that are given must hold. Pages are complete and without repeats while leases come and go.',
    },
    async (c, { query: { limit, cursor, node, reserved, ...filter } }) => {
      const identity = c.get('identity');
      const { rows, hasMore } = await listLeases(
        parts.reads,
        identity.tenantId,
        {
          ...{ personId: filter.person, agentId: filter.agent, session: filter.session, project: filter.project },
          nodeIds: node === undefined ? null : [node],
          reserved: reserved === undefined ? null : reserved === 'true',
          expiringWithinMs: filter.expiring_within_ms,
        },
        { order: 'AGE', limit, after: cursor ?? null },
      );
      const leases = rows.map(({ item }) => item);
      const names = await namesOf(parts, identity, leases);
      return {
        leases: leases.map((item) => leaseJson(item, names)),
        next_cursor: hasMore ? (rows.at(-1)?.cursor ?? null) : null,
      };
    },
  );
}
