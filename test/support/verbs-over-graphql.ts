import type { Doors, Json } from './doors.ts';
import { DOCUMENTS, NODE } from './graphql-documents.ts';
import { type Answer, assignedIn, type Batch, type Fields, type LeaseSeen, type Verbs } from './verbs.ts';

/** The verbs over GraphQL. */
export function overGraphql(doors: Doors): Verbs {
  async function mutate(who: string, field: string, input: Fields): Promise<Json> {
    const { data, errors } = await doors.graphql(who, DOCUMENTS[field] as string, { input });
    if (errors !== undefined)
      throw new Error(`${field} was answered: ${errors.map(({ message }) => message).join('; ')}`);
    return data[field];
  }
  const one = async (who: string, verb: string, input: Fields) =>
    graphqlAnswer(await mutate(who, `${verb}Lease`, input));
  async function many(who: string, field: string, input: Fields): Promise<Batch> {
    const told = await mutate(who, field, input);
    const answers: Answer[] = told.results.map(graphqlAnswer);
    const leases = answers.flatMap(({ lease }) => (lease === null ? [] : [lease]));
    return {
      status: told.status.toLowerCase(),
      count: told.count,
      landed: told.results.flatMap((each: Json) =>
        each.code === undefined ? [each.lease?.nodeId ?? each.nodeId] : [],
      ),
      leases,
      failed: told.results.flatMap((each: Json) =>
        each.code === undefined
          ? []
          : [{ nodeId: each.nodeId, code: each.code.toLowerCase(), holder: graphqlLease(each.holder) }],
      ),
      expiresInMs: told.expiresInMs,
      reclaimed: told.reclaimed,
      skipped: {
        session: told.skippedOtherSession,
        reserved: told.skippedReserved,
        project: told.skippedOtherProject,
      },
    };
  }
  return {
    claim: (who, nodeId, more = {}) => one(who, 'claim', { nodeId, ...more }),
    renew: (who, nodeId, more = {}) => one(who, 'renew', { nodeId, ...more }),
    extend: (who, nodeId, ms, more = {}) => one(who, 'extend', { nodeId, ms, ...more }),
    reserve: (who, nodeId, more = {}) => one(who, 'reserve', { nodeId, ...more }),
    release: (who, nodeId, more = {}) => one(who, 'release', { nodeId, ...more }),
    async setStatus(who, nodeId, status) {
      const told = await mutate(who, 'setNodeStatus', { nodeId, status });
      const claim = told.claim == null ? null : graphqlAnswer(told.claim);
      return {
        status: told.status?.toLowerCase() ?? null,
        code: told.code?.toLowerCase() ?? null,
        message: told.message ?? null,
        revision: told.revision ?? null,
        warnings: told.warnings ?? null,
        claim:
          claim === null
            ? null
            : claim.lease !== null
              ? { lease: claim.lease }
              : { code: claim.code as string, holder: claim.holder?.by ?? null },
      };
    },
    claimMany: (who, nodeIds, more = {}) => many(who, 'claimLeases', { nodeIds, ...more }),
    renewMany: (who, nodeIds, more = {}) => many(who, 'renewLeases', { nodeIds, ...more }),
    renewHeld: (who, filter = {}) => many(who, 'renewHeldLeases', filter),
    releaseHeld: (who, filter = {}) => many(who, 'releaseHeldLeases', filter),
    async read(who, nodeId) {
      const { data, errors } = await doors.graphql(who, NODE, { nodeId });
      if (errors !== undefined) throw new Error(`the node was answered ${JSON.stringify(errors)}`);
      const { workNode: node } = data;
      if (node === null) return null;
      const { revision, status, lease, edges } = node;
      return { revision, status, lease: graphqlLease(lease), assigned: assignedIn(edges) };
    },
  };
}

function graphqlAnswer(told: Json): Answer {
  return {
    status: told.status?.toLowerCase() ?? null,
    code: told.code?.toLowerCase() ?? null,
    message: told.message ?? null,
    field: told.field ?? null,
    limit: told.limit ?? null,
    holder: graphqlLease(told.holder),
    lease: graphqlLease(told.lease),
    expiresInMs: told.expiresInMs ?? null,
    renewAfterMs: told.renewAfterMs ?? null,
    edge: told.edge?.toLowerCase() ?? null,
    reclaimed: told.reclaimed ?? false,
    capped: told.cappedToMax ?? false,
    ceilingMs: told.claimTtlMaxMs ?? null,
    graceMs: told.graceWindowMs ?? null,
  };
}

function graphqlLease(lease: Json): LeaseSeen | null {
  if (lease == null) return null;
  return {
    nodeId: lease.nodeId,
    by: lease.by.personId,
    byName: lease.by.name,
    agent: lease.agent?.agentId ?? null,
    session: lease.session,
    claimedAt: Date.parse(lease.claimedAt),
    expiresAt: Date.parse(lease.expiresAt),
    reserved: lease.reserved,
    fence: lease.fence,
  };
}
