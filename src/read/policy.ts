import type { PrismaClient } from '../generated/prisma/client.ts';
import { type Policy, type PolicySettings, resolvePolicy } from '../lease/policy.ts';
import { isStorable } from '../lease/storable.ts';

/** The policy that counts for a tenant, or for one of its projects. */
export async function readPolicy(reads: PrismaClient, tenantId: string, project: string | null): Promise<Policy> {
  if (project !== null && !isStorable(project)) return readPolicy(reads, tenantId, null);
  const rows = await reads.policy.findMany({
    where: { tenantId, project: { in: ['', ...(project === null ? [] : [project])] } },
  });
  const settings = new Map(rows.map((row) => [row.project, row]));
  const of = (key: string): PolicySettings | undefined => {
    const row = settings.get(key);
    if (row === undefined) return undefined;
    const { claimTtlMs, claimTtlMaxMs, reserveGraceMs, bulkMax, heldMax } = row;
    const ms = (value: bigint | null): number | null => (value === null ? null : Number(value));
    return {
      claimTtlMs: ms(claimTtlMs),
      claimTtlMaxMs: ms(claimTtlMaxMs),
      reserveGraceMs: ms(reserveGraceMs),
      bulkMax,
      heldMax,
    };
  };
  return resolvePolicy(of(''), project === null || project === '' ? undefined : of(project));
}
