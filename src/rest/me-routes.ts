import { Hono } from 'hono';
import type { RestEnv } from './door.ts';

/** Who the token makes the caller. */
export function meRoutes(): Hono<RestEnv> {
  return new Hono<RestEnv>().get('/me', (c) => {
    const { person, admin, tenantId } = c.get('identity');
    const { personId, name, email } = person;
    // Every token is bound to a person.
    return c.json({ person: personId, name, email, bound: true, is_admin: admin, org: tenantId });
  });
}
