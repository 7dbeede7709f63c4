import type { PrismaClient } from '../generated/prisma/client.ts';
import { AdminFault } from './admin-fault.ts';
import { FIRST_ADMIN } from './first-start.ts';
import { checkId, checkText } from './people.ts';
import { newToken, newTokenId } from './token.ts';

/**
 * Makes a tenant with its first admin.
 * @returns the admin's token, which is shown this once
 * @throws AdminFault ALREADY_EXISTS, INVALID_INPUT
 */
export async function createTenant(client: PrismaClient, { id, name }: { id: string; name: string }): Promise<string> {
  checkId('id', id);
  checkText('name', name);
  const { token, hash } = newToken(id);
  await client.$transaction(async (tx) => {
    const made = await tx.$executeRawUnsafe(
      'INSERT INTO tenant (tenant_id, name, created_at) VALUES ($1, $2, holdfast_now()) ON CONFLICT DO NOTHING',
      id,
      name,
    );
    if (made === 0) throw new AdminFault('ALREADY_EXISTS', `There is a tenant ${id} already.`);
    await tx.$executeRawUnsafe(
      `INSERT INTO person (tenant_id, person_id, name, created_at) VALUES ($1, $2, 'Admin', holdfast_now())`,
      id,
      FIRST_ADMIN,
    );
    await tx.$executeRawUnsafe(
      `INSERT INTO api_token (tenant_id, hash, token_id, person_id, label, admin, created_at)
       VALUES ($1, $2, $3, $4, 'first admin', true, holdfast_now())`,
      ...[id, hash, newTokenId(), FIRST_ADMIN],
    );
  });
  return token;
}
