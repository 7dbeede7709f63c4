import type { Doors, Json } from './doors.ts';
import {
  type Answer,
  assignedIn,
  type Batch,
  type Fields,
  type LeaseSeen,
  type StatusAnswer,
  type Verbs,
} from './verbs.ts';

/** The verbs over REST. */
const REST_FIELDS: Readonly<Record<string, string>> = { nodeIds: 'ids' };

export function overRest(doors: Doors): Verbs {
  async function one(who: string, verb: string, nodeId: string, body: Fields): Promise<Answer> {
    const answer = await doors.rest(who, 'POST', `/v1/nodes/${encodeURIComponent(nodeId)}/${verb}`, body);
    expectKnown(answer.status, answer.body);
    const { error, holder, lease, ...rest } = answer.body;
    return {
      status: rest.status ?? null,
      code: error?.code ?? null,
      message: error?.message ?? null,
      field: error?.details?.field ?? null,
      limit: error?.details?.limit ?? null,
      holder: restLease(holder),
      lease: restLease(lease),
      expiresInMs: rest.expires_in_ms ?? null,
      renewAfterMs: rest.renew_after_ms ?? null,
      edge: rest.edge ?? null,
      reclaimed: rest.reclaimed ?? false,
      capped: rest.capped_to_max ?? false,
      ceilingMs: rest.claim_ttl_max_ms ?? null,
      graceMs: rest.grace_window_ms ?? null,
    };
  }
  async function many(who: string, verb: string, fields: Fields): Promise<Batch> {
    const body = Object.fromEntries(Object.entries(fields).map(([key, value]) => [REST_FIELDS[key] ?? key, value]));
    const { status, body: told } = await doors.rest(who, 'POST', `/v1/queue/${verb}`, body);
    if (status !== 200 || told.ok !== true) throw new Error(`the batch was not answered: ${JSON.stringify(told)}`);
    return {
      status: told.status,
      count: told.count,
      landed: told.claimed ?? told.renewed ?? told.released,
      leases: (told.leases ?? []).map(restLease),
      failed: (told.failed ?? []).map(({ node_id, code, holder }: Json) => ({
        nodeId: node_id,
        code: SINGLE_WORDS[code] ?? code,
        holder: restLease(holder),
      })),
      expiresInMs: told.expires_in_ms ?? null,
      reclaimed: told.reclaimed ?? [],
      skipped: {
        session: told.skipped_other_session ?? 0,
        reserved: told.skipped_reserved ?? 0,
        project: told.skipped_other_project ?? 0,
      },
    };
  }
  return {
    claim: (who, nodeId, more = {}) => one(who, 'claim', nodeId, more),
    renew: (who, nodeId, more = {}) => one(who, 'renew', nodeId, more),
    extend: (who, nodeId, ms, more = {}) => one(who, 'extend', nodeId, { ms, ...more }),
    reserve: (who, nodeId, more = {}) => one(who, 'reserve', nodeId, more),
    release: (who, nodeId, more = {}) => one(who, 'release', nodeId, more),
    async setStatus(who, nodeId, status) {
      const answer = await doors.rest(who, 'POST', `/v1/nodes/${encodeURIComponent(nodeId)}/status`, { status });
      expectKnown(answer.status, answer.body);
      const { error, lease, ...rest } = answer.body;
      return {
        status: rest.status ?? null,
        code: error?.code ?? null,
        message: error?.message ?? null,
        revision: rest.revision ?? null,
        warnings: rest.warnings ?? null,
        claim: restClaim(lease),
      };
    },
    claimMany: (who, nodeIds, more = {}) => many(who, 'claim', { nodeIds, ...more }),
    renewMany: (who, nodeIds, more = {}) => many(who, 'renew', { nodeIds, ...more }),
    renewHeld: (who, filter = {}) => many(who, 'renew', filter),
    releaseHeld: (who, filter = {}) => many(who, 'release', filter),
    async read(who, nodeId) {
      const { status, body } = await doors.rest(who, 'GET', `/v1/nodes/${encodeURIComponent(nodeId)}`);
      expectKnown(status, body);
      if (status !== 200) return null;
      return {
        revision: body.revision,
        status: body.frontmatter.status,
        lease: restLease(body.lease),
        assigned: assignedIn(body.edges),
      };
    },
  };
}

function restClaim(lease: Json): StatusAnswer['claim'] {
  if (lease === undefined) return null;
  return lease.error === undefined
    ? { lease: restLease(lease) as LeaseSeen }
    : { code: SINGLE_WORDS[lease.error] ?? lease.error, holder: lease.holder ?? null };
}

/** What an item of a list is called where the single verb has another word. */
const SINGLE_WORDS: Readonly<Record<string, string>> = { already_claimed: 'conflict', invalid_id: 'invalid_input' };

function expectKnown(status: number, body: Json): void {
  if (status >= 500) throw new Error(`the server answered ${status}: ${JSON.stringify(body)}`);
  if ((status === 200) !== (body.error === undefined))
    throw new Error(`${status} does not fit ${JSON.stringify(body)}`);
}

function restLease(lease: Json): LeaseSeen | null {
  if (lease == null) return null;
  return {
    nodeId: lease.node_id,
    by: lease.by,
    byName: lease.by_name,
    agent: lease.agent ?? null,
    session: lease.session,
    claimedAt: Date.parse(lease.claimed_at),
    expiresAt: lease.expires,
    reserved: lease.reserved ?? false,
    fence: lease.fence,
  };
}
