import DataLoader from 'dataloader';
import type { Engine } from '../engine/engine.ts';
import type { Live } from '../events/live.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Identity } from '../identity/authenticate.ts';
import { isId } from '../lease/node-id.ts';
import type { LeaseView } from '../lease/refusal.ts';
import { readLeases } from '../read/leases.ts';
import { type AgentRead, type PersonRead, readAgents, readPeople } from '../read/people.ts';
import { type EdgeRead, type NodeRead, readEdges, readNodes } from '../read/work-node.ts';

/** What resolvers stand on: who calls, the engine for writes, and loaders that read many rows with one statement. */
export interface GraphqlContext {
  readonly identity: Identity;
  readonly engine: Engine;
  readonly reads: PrismaClient;
  readonly live: Live;
  readonly load: Loaders;
}

export interface Loaders {
  readonly node: Loader<NodeRead>;
  readonly edges: Loader<readonly EdgeRead[]>;
  readonly lease: Loader<LeaseView>;
  readonly person: Loader<PersonRead>;
  readonly agent: Loader<AgentRead>;
}

/** Null for an id that the tenant does not have. */
type Loader<T> = DataLoader<string, T | null>;

/**
 * The loaders of each tenant. They merge what is asked for in one step, by one document or by all subscribers that an
 * event reaches, and remember nothing beyond it: a document may write between two reads.
 */
export function createLoaders(reads: PrismaClient): (tenantId: string) => Loaders {
  const tenants = new Map<string, Loaders>();
  return (tenantId) => {
    const loaders = tenants.get(tenantId) ?? loadersOf(reads, tenantId);
    tenants.set(tenantId, loaders);
    return loaders;
  };
}

function loadersOf(reads: PrismaClient, tenantId: string): Loaders {
  const by = <T>(
    read: (reads: PrismaClient, tenantId: string, ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ): Loader<T> =>
    new DataLoader(
      async (ids) => {
        // What is no id names nothing, and the database can't be asked about all of it.
        const found = await read(reads, tenantId, [...new Set(ids)].filter(isId));
        return ids.map((id) => found.get(id) ?? null);
      },
      { cache: false, maxBatchSize: 1_000 },
    );
  return {
    node: by(readNodes),
    edges: by(readEdges),
    lease: by(readLeases),
    person: by(readPeople),
    agent: by(readAgents),
  };
}
