import type { Context } from 'hono';
import type { Engine } from '../engine/engine.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Identity } from '../identity/authenticate.ts';
import type { Outcome } from '../lease/outcome.ts';
import type { LeaseView } from '../lease/refusal.ts';
import { readPeople } from '../read/people.ts';
import { RestError } from './errors.ts';
import type { Names } from './wire.ts';

/** What the handlers stand on. */
export interface RestParts {
  readonly engine: Engine;
  readonly reads: PrismaClient;
}

/** Each request carries who calls. */
export interface RestEnv {
  Variables: { identity: Identity };
}

export type RestContext = Context<RestEnv>;

/** @throws RestError forbidden */
export function requireAdmin(c: RestContext): Identity {
  const identity = c.get('identity');
  if (!identity.admin) throw new RestError('forbidden', 'This needs an admin token.');
  return identity;
}

/** The names of those whose leases an answer shows. The caller's own is known already. */
export async function namesOf(parts: RestParts, identity: Identity, leases: readonly LeaseView[]): Promise<Names> {
  const { person, tenantId } = identity;
  const names = new Map([[person.personId, person.name]]);
  const unknown = new Set(leases.map((lease) => lease.holder).filter((holder) => !names.has(holder)));
  if (unknown.size === 0) return names;
  for (const [id, { name }] of await readPeople(parts.reads, tenantId, [...unknown])) names.set(id, name);
  return names;
}

/** The leases that the answer of an outcome shows. */
export function leasesIn(outcome: Outcome): readonly LeaseView[] {
  switch (outcome.kind) {
    case 'held':
      return [outcome.lease];
    case 'refused':
      return outcome.holder === null ? [] : [outcome.holder];
    case 'status-set':
      return outcome.claim === null ? [] : leasesIn(outcome.claim);
    default:
      return [];
  }
}
