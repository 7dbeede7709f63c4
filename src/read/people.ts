import type { PrismaClient } from '../generated/prisma/client.ts';

/** People and agents, by id. */
export interface PersonRead {
  readonly personId: string;
  readonly name: string;
  readonly email: string | null;
}

export interface AgentRead {
  readonly agentId: string;
  readonly ownerId: string;
  readonly label: string | null;
}

export async function readPeople(
  reads: PrismaClient,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PersonRead>> {
  const rows = await reads.person.findMany({
    where: { tenantId, personId: { in: [...ids] } },
    select: { personId: true, name: true, email: true },
  });
  return new Map(rows.map((row) => [row.personId, row]));
}

export async function readAgents(
  reads: PrismaClient,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AgentRead>> {
  const rows = await reads.agent.findMany({
    where: { tenantId, agentId: { in: [...ids] } },
    select: { agentId: true, ownerId: true, label: true },
  });
  return new Map(rows.map((row) => [row.agentId, row]));
}
