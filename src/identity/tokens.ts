import type { PrismaClient } from '../generated/prisma/client.ts';
import { isId } from '../lease/node-id.ts';
import { AdminFault } from './admin-fault.ts';
import { checkId, checkText } from './people.ts';
import { newToken, newTokenId } from './token.ts';

/** Making and revoking tokens. */
export interface NewTokenInput {
  /** Whose token it is; may be left out with an agent, whose owner it then is. */
  readonly personId: string | null;
  /** The agent that will carry it; it then acts for its owner. */
  readonly agentId: string | null;
  readonly label: string | null;
  readonly expiresAt: Date | null;
  readonly admin: boolean;
}

/**
 * @returns the token, which is shown this once, and the id to revoke it by
 * @throws AdminFault INVALID_INPUT, NOT_FOUND
 */
export async function createToken(
  client: PrismaClient,
  tenantId: string,
  input: NewTokenInput,
): Promise<{ token: string; id: string }> {
  const { agentId, label, expiresAt, admin } = input;
  if (input.personId !== null) checkId('personId', input.personId);
  if (agentId !== null) checkId('agentId', agentId);
  if (label !== null) checkText('label', label);
  const personId = await carrier(client, tenantId, input.personId, agentId);
  const { token, hash } = newToken(tenantId);
  const id = newTokenId();
  const made = await client.$executeRawUnsafe(
    `INSERT INTO api_token (tenant_id, hash, token_id, person_id, agent_id, label, admin, created_at, expires_at)
     SELECT $1, $2, $3, $4, $5, $6, $7, holdfast_now(), $8::timestamptz
     WHERE $8::timestamptz IS NULL OR $8::timestamptz > holdfast_now()`,
    ...[tenantId, hash, id, personId, agentId, label, admin, expiresAt],
  );
  if (made === 0)
    throw new AdminFault(
      'INVALID_INPUT',
      `expiresAt is ${expiresAt?.toISOString()}, which is not ahead. Choose a later time.`,
    );
  return { token, id };
}

/** The person behind a new token: the one named, or the owner of the agent. */
async function carrier(
  client: PrismaClient,
  tenantId: string,
  personId: string | null,
  agentId: string | null,
): Promise<string> {
  if (agentId === null) {
    if (personId === null) throw new AdminFault('INVALID_INPUT', 'Name a personId or an agentId for the token.');
    const person = await client.person.findUnique({ where: { tenantId_personId: { tenantId, personId } } });
    if (person === null || person.disabledAt !== null)
      throw new AdminFault('NOT_FOUND', `There is no person ${personId}.`);
    return personId;
  }
  const agent = await client.agent.findUnique({ where: { tenantId_agentId: { tenantId, agentId } } });
  if (agent === null) throw new AdminFault('NOT_FOUND', `There is no agent ${agentId}.`);
  if (personId !== null && personId !== agent.ownerId) {
    throw new AdminFault(
      'INVALID_INPUT',
      `The agent ${agentId} is owned by ${agent.ownerId}, not by ${personId}. Leave personId out.`,
    );
  }
  return agent.ownerId;
}

/** Revokes at once; revoking again changes nothing. @throws AdminFault NOT_FOUND */
export async function revokeToken(client: PrismaClient, tenantId: string, tokenId: string): Promise<void> {
  const found = isId(tokenId)
    ? await client.$executeRawUnsafe(
        `UPDATE api_token SET revoked_at = coalesce(revoked_at, holdfast_now()) WHERE tenant_id = $1 AND token_id = $2`,
        tenantId,
        tokenId,
      )
    : 0;
  if (found === 0) throw new AdminFault('NOT_FOUND', `There is no token ${JSON.stringify(tokenId.slice(0, 80))}.`);
}
