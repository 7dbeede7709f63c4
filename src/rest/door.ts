import type { Context } from 'hono';
import { z } from 'zod';
import type { Engine } from '../engine/engine.ts';
import type { Live } from '../events/live.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Identity } from '../identity/authenticate.ts';
import type { TokenWatch } from '../identity/token-watch.ts';
import type { Outcome } from '../lease/outcome.ts';
import type { LeaseView } from '../lease/refusal.ts';
import { readPeople } from '../read/people.ts';
import type { OpenStreams } from '../rim/open-streams.ts';
import type { RimEnv } from '../rim/request.ts';
import { type Names, nodeIdText } from './wire.ts';

/** What the handlers stand on. */
export interface RestParts {
  readonly engine: Engine;
  readonly reads: PrismaClient;
  readonly live: Live;
  readonly tokens: TokenWatch;
  readonly streams: OpenStreams;
}

/** Each request carries who calls, where its route needs a token. */
export interface RestEnv {
  Variables: RimEnv['Variables'] & { identity: Identity };
}

export type RestContext = Context<RestEnv>;

/** The node in the path. Its form is the domain's to check. */
export const nodeParams = z.object({ id: nodeIdText.describe('The id of the node.') });

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
