import type { PrismaClient } from '../generated/prisma/client.ts';
import { isId } from '../lease/node-id.ts';
import { decodeCursor, encodeCursor, type Page, toPage } from './page.ts';
import type { AgentRead, PersonRead } from './people.ts';

/** Lists of people, agents and tokens, by id. What has not the form of an id is nobody's, and finds nothing. */
export interface TokenRead {
  readonly tokenId: string;
  readonly personId: string;
  readonly agentId: string | null;
  readonly label: string | null;
  readonly admin: boolean;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

const behind = (list: string, after: string | null) =>
  after === null ? {} : { gt: String(decodeCursor(list, after, ['string'])[0]) };

/** No condition for null; one that nothing meets for what is no id. */
const ofPerson = <K extends string>(key: K, id: string | null): Partial<Record<K, string | { in: string[] }>> =>
  (id === null ? {} : { [key]: isId(id) ? id : { in: [] } }) as Partial<Record<K, string | { in: string[] }>>;

/** @throws InvalidCursor */
export async function listPeople(
  reads: PrismaClient,
  tenantId: string,
  limit: number,
  after: string | null,
): Promise<Page<PersonRead>> {
  const rows = await reads.person.findMany({
    where: { tenantId, personId: behind('people', after) },
    select: { personId: true, name: true, email: true },
    orderBy: { personId: 'asc' },
    take: limit + 1,
  });
  return toPage(rows, limit, ({ personId }) => encodeCursor('people', [personId]));
}

/** @param ownerId only the agents of this person; of everyone when null. @throws InvalidCursor */
export async function listAgents(
  reads: PrismaClient,
  tenantId: string,
  ownerId: string | null,
  limit: number,
  after: string | null,
): Promise<Page<AgentRead>> {
  const rows = await reads.agent.findMany({
    where: { tenantId, agentId: behind('agents', after), ...ofPerson('ownerId', ownerId) },
    select: { agentId: true, ownerId: true, label: true },
    orderBy: { agentId: 'asc' },
    take: limit + 1,
  });
  return toPage(rows, limit, ({ agentId }) => encodeCursor('agents', [agentId]));
}

/** Never the secret, nor its hash. @param personId only the tokens of this person; of everyone when null. @throws InvalidCursor */
export async function listTokens(
  reads: PrismaClient,
  tenantId: string,
  personId: string | null,
  limit: number,
  after: string | null,
): Promise<Page<TokenRead>> {
  const rows = await reads.apiToken.findMany({
    where: { tenantId, tokenId: behind('tokens', after), ...ofPerson('personId', personId) },
    omit: { hash: true, tenantId: true },
    orderBy: { tokenId: 'asc' },
    take: limit + 1,
  });
  return toPage(rows, limit, ({ tokenId }) => encodeCursor('tokens', [tokenId]));
}
