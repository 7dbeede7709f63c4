import type { PrismaClient } from '../generated/prisma/client.ts';
import { hashToken, newToken, newTokenId } from './token.ts';

/**
 * The first start makes the tenant `local`, an admin and the admin's token. Several replicas may do so at once: each
 * insert gives way to the one that came first, and only the one that made the token knows it.
 */
export const FIRST_TENANT = 'local';
export const FIRST_ADMIN = 'admin';

/**
 * @param given a token to set instead of a random one; setting it again changes nothing
 * @param keep is handed the token before it counts, so that a start that is killed never leaves a token nobody knows
 * @returns the token if it was made now, to be shown this once; null when there was an admin's token already
 */
export async function firstStart(
  client: PrismaClient,
  given: string | null,
  keep: (token: string) => Promise<void> = async () => {},
): Promise<string | null> {
  const { token, hash } = given === null ? newToken(FIRST_TENANT) : { token: given, hash: hashToken(given) };
  // Locking the tenant's row makes one of several replicas the first; the others then see its token.
  return client.$transaction(async (tx) => {
    await tx.$executeRawUnsafe(
      `INSERT INTO tenant (tenant_id, name, created_at) VALUES ($1, 'Local', holdfast_now()) ON CONFLICT DO NOTHING`,
      FIRST_TENANT,
    );
    await tx.$queryRawUnsafe('SELECT 1 AS one FROM tenant WHERE tenant_id = $1 FOR NO KEY UPDATE', FIRST_TENANT);
    await tx.$executeRawUnsafe(
      `INSERT INTO person (tenant_id, person_id, name, created_at) VALUES ($1, $2, 'Admin', holdfast_now())
       ON CONFLICT DO NOTHING`,
      FIRST_TENANT,
      FIRST_ADMIN,
    );
    const made = await tx.$executeRawUnsafe(
      `INSERT INTO api_token (tenant_id, hash, token_id, person_id, label, admin, created_at)
       SELECT $1, $2, $3, $4, 'first start', true, holdfast_now()
       WHERE $5 OR NOT EXISTS (SELECT FROM api_token WHERE tenant_id = $1 AND admin)
       ON CONFLICT DO NOTHING`,
      ...[FIRST_TENANT, hash, newTokenId(), FIRST_ADMIN, given !== null],
    );
    if (made === 0) return null;
    await keep(token);
    return token;
  });
}
