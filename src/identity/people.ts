import type { PrismaClient } from '../generated/prisma/client.ts';
import { malformedId } from '../lease/check-input.ts';
import { isId, isLine } from '../lease/node-id.ts';
import { AdminFault } from './admin-fault.ts';

/** People and the agents that act for them. */
export interface NewPersonInput {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
}

export interface NewAgentInput {
  readonly id: string;
  readonly ownerId: string;
  readonly label: string | null;
}

/** @throws AdminFault ALREADY_EXISTS, INVALID_INPUT */
export async function createPerson(
  client: PrismaClient,
  tenantId: string,
  { id, name, email }: NewPersonInput,
): Promise<void> {
  checkId('id', id);
  checkText('name', name);
  if (email !== null) checkText('email', email);
  const made = await client.$executeRawUnsafe(
    `INSERT INTO person (tenant_id, person_id, name, email, created_at) VALUES ($1, $2, $3, $4, holdfast_now())
     ON CONFLICT DO NOTHING`,
    tenantId,
    id,
    name,
    email,
  );
  if (made === 0) throw new AdminFault('ALREADY_EXISTS', `There is a person ${id} already.`);
}

/** @throws AdminFault ALREADY_EXISTS, INVALID_INPUT, NOT_FOUND when there is no such owner */
export async function createAgent(
  client: PrismaClient,
  tenantId: string,
  { id, ownerId, label }: NewAgentInput,
): Promise<void> {
  checkId('id', id);
  checkId('ownerId', ownerId);
  if (label !== null) checkText('label', label);
  const [row] = await client.$queryRawUnsafe<{ owner: boolean; made: boolean }[]>(
    `WITH owner AS (
       SELECT person_id FROM person WHERE tenant_id = $1 AND person_id = $3 AND disabled_at IS NULL
     ), made AS (
       INSERT INTO agent (tenant_id, agent_id, owner_id, label, created_at)
       SELECT $1, $2, person_id, $4, holdfast_now() FROM owner
       ON CONFLICT DO NOTHING
       RETURNING 1)
     SELECT EXISTS (SELECT FROM owner) AS owner, EXISTS (SELECT FROM made) AS made`,
    tenantId,
    id,
    ownerId,
    label,
  );
  if (!row?.owner)
    throw new AdminFault('NOT_FOUND', `There is no person ${ownerId} to own the agent ${id}. Create the person first.`);
  if (!row.made) throw new AdminFault('ALREADY_EXISTS', `There is an agent ${id} already.`);
}

export function checkId(field: string, id: string): void {
  if (!isId(id)) throw new AdminFault('INVALID_INPUT', malformedId(field, id).message);
}

/** Text that a person reads: something, not too much, and nothing that can't be stored or shown. */
export function checkText(field: string, text: string): void {
  if (!isLine(text, 1_000))
    throw new AdminFault('INVALID_INPUT', `${field} must be 1 to 1000 characters without control characters.`);
}

/**
 * Shuts a person out: their tokens and those of their agents are refused from now on. Leases they hold run out by
 * themselves. Safe to repeat. @throws AdminFault NOT_FOUND
 */
export async function disablePerson(client: PrismaClient, tenantId: string, personId: string): Promise<void> {
  checkId('id', personId);
  const found = await client.$executeRawUnsafe(
    `UPDATE person SET disabled_at = coalesce(disabled_at, holdfast_now()) WHERE tenant_id = $1 AND person_id = $2`,
    tenantId,
    personId,
  );
  if (found === 0) throw new AdminFault('NOT_FOUND', `There is no person ${personId}.`);
}
