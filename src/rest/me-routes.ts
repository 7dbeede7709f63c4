import { z } from 'zod';
import type { Routes } from './routes.ts';

const me = z
  .object({
    person: z.string().describe('The id of the person that the token acts for; the holder of what it claims.'),
    name: z.string().describe('The name of that person.'),
    email: z.string().nullable().describe('Where that person is reached; null when nobody said.'),
    bound: z.literal(true).describe('Always true: every token is bound to a person.'),
    is_admin: z.boolean().describe('Whether the token may make nodes, people, agents and tokens.'),
    org: z.string().describe('The tenant of the token.'),
  })
  .meta({ id: 'Me', description: 'Who the token makes the caller.' });

/** Who the token makes the caller. */
export function meRoutes(routes: Routes): void {
  routes.add(
    {
      ...{ method: 'GET', path: '/v1/me', name: 'me', tag: 'identity' },
      ...{ summary: 'Who the token makes the caller.', answer: me },
    },
    async (c) => {
      const { person, admin, tenantId } = c.get('identity');
      const { personId, name, email } = person;
      return { person: personId, name, email, bound: true as const, is_admin: admin, org: tenantId };
    },
  );
}
