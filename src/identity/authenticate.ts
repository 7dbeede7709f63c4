import { isOutage } from '../db/outage.ts';
import { databaseOutage } from '../engine/unavailable.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Caller } from '../lease/command.ts';
import { hashToken, tenantOf } from './token.ts';

/**
 * Who calls. The tenant comes from the token and from nowhere else; a request can't name one. The same function serves
 * HTTP, SSE and WebSocket.
 */
export interface Identity {
  readonly tenantId: string;
  readonly tokenId: string;
  readonly person: { readonly personId: string; readonly name: string; readonly email: string | null };
  /** The agent that acts for the person; null for the person's own token. */
  readonly agent: { readonly agentId: string; readonly label: string | null } | null;
  readonly admin: boolean;
}

export type Authenticate = (authorization: string | undefined) => Promise<Identity | null>;

export function callerOf({ person, agent }: Identity): Caller {
  return { person: person.personId, agent: agent?.agentId ?? null };
}

interface Row {
  token_id: string;
  admin: boolean;
  person_id: string;
  name: string;
  email: string | null;
  agent_id: string | null;
  label: string | null;
  used_lately: boolean;
}

/** A token that is neither revoked nor expired, of a person who is still there, who owns the agent if there is one. */
const FIND = `
SELECT t.token_id, t.admin, p.person_id, p.name, p.email, a.agent_id, a.label,
       coalesce(t.last_used_at > holdfast_now() - interval '1 minute', false) AS used_lately
FROM api_token t
JOIN person p ON p.tenant_id = t.tenant_id AND p.person_id = t.person_id AND p.disabled_at IS NULL
LEFT JOIN agent a ON a.tenant_id = t.tenant_id AND a.agent_id = t.agent_id AND a.owner_id = t.person_id
WHERE t.tenant_id = $1 AND t.hash = $2 AND t.revoked_at IS NULL
  AND (t.expires_at IS NULL OR t.expires_at > holdfast_now())
  AND (t.agent_id IS NULL OR a.agent_id IS NOT NULL)`;

/** At most once a minute, so that using a token stays a read. */
const TOUCH = `
UPDATE api_token SET last_used_at = holdfast_now()
WHERE tenant_id = $1 AND hash = $2
  AND (last_used_at IS NULL OR last_used_at <= holdfast_now() - interval '1 minute')`;

/**
 * @returns a function that answers null for whatever is no valid bearer token, and throws Unavailable while the database
 *   can't tell
 */
export function createAuthenticate(client: PrismaClient): Authenticate {
  const touching = new Set<string>();

  async function find(tenantId: string, hash: ReturnType<typeof hashToken>): Promise<Row | null> {
    const [row] = await client.$queryRawUnsafe<Row[]>(FIND, tenantId, hash);
    if (row === undefined) return null;
    if (!row.used_lately && !touching.has(row.token_id)) {
      // One of many concurrent requests is enough; the others would wait for its row.
      touching.add(row.token_id);
      try {
        await client.$executeRawUnsafe(TOUCH, tenantId, hash);
      } finally {
        touching.delete(row.token_id);
      }
    }
    return row;
  }

  return async (authorization) => {
    const token = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1];
    const tenantId = token === undefined ? null : tenantOf(token);
    if (token === undefined || tenantId === null) return null;
    const hash = hashToken(token);
    const row = await find(tenantId, hash).catch((error: unknown) => {
      // Known here and nowhere further in: of the call itself nothing was done.
      throw isOutage(error) ? databaseOutage(error) : error;
    });
    if (row === null) return null;
    return {
      tenantId,
      tokenId: row.token_id,
      person: { personId: row.person_id, name: row.name, email: row.email },
      agent: row.agent_id === null ? null : { agentId: row.agent_id, label: row.label },
      admin: row.admin,
    };
  };
}
