import { listAgents, listPeople, listTokens, type TokenRead } from '../read/directory.ts';
import type { AgentRead, PersonRead } from '../read/people.ts';
import { requireAdmin } from './admin.ts';
import { builder } from './builder.ts';
import { connectionOf, listed, pageArgs, readPageArgs } from './connection.ts';
import { Agent, Person, stranger } from './person.ts';

/** Who there is and by which tokens; for admin tokens only. */
const ApiToken = builder.objectRef<TokenRead>('ApiToken').implement({
  description: 'A token, without its secret, which is stored nowhere.',
  fields: (t) => ({
    tokenId: t.exposeID('tokenId', { description: 'The id to revoke it by.' }),
    person: t.field({
      type: Person,
      description: 'Whose token it is.',
      resolve: async ({ personId }, _args, { load }) => (await load.person.load(personId)) ?? stranger(personId),
    }),
    agent: t.field({
      type: Agent,
      nullable: true,
      description: "The agent that carries it; null for the person's own.",
      resolve: ({ agentId }, _args, { load }) => (agentId === null ? null : load.agent.load(agentId)),
    }),
    label: t.exposeString('label', { nullable: true, description: 'What it is called; null for none.' }),
    isAdmin: t.exposeBoolean('admin', { description: 'Whether it has admin rights.' }),
    createdAt: t.field({
      type: 'DateTime',
      description: 'When it was made.',
      resolve: ({ createdAt }) => createdAt.getTime(),
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it ends; null for never.',
      resolve: ({ expiresAt }) => expiresAt?.getTime() ?? null,
    }),
    revokedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was revoked; null when it was not.',
      resolve: ({ revokedAt }) => revokedAt?.getTime() ?? null,
    }),
    lastUsedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, to the minute; null for never.',
      resolve: ({ lastUsedAt }) => lastUsedAt?.getTime() ?? null,
    }),
  }),
});

const PersonConnection = connectionOf<PersonRead>('Person', 'people', Person, false);
const AgentConnection = connectionOf<AgentRead>('Agent', 'agents', Agent, false);
const ApiTokenConnection = connectionOf<TokenRead>('ApiToken', 'tokens', ApiToken, false);

builder.queryFields((t) => ({
  people: t.field({
    type: PersonConnection,
    description: 'The people of the tenant, by id. Needs admin rights.',
    args: pageArgs(t.arg),
    resolve: async (_root, args, context) => {
      const { limit, after } = readPageArgs(args);
      return {
        page: await listed(listPeople(context.reads, requireAdmin(context).tenantId, limit, after)),
        after,
        total: null,
      };
    },
  }),
  agents: t.field({
    type: AgentConnection,
    description: 'The agents of the tenant, by id. Needs admin rights.',
    args: { ownerId: t.arg.id({ description: 'Only those of this person.' }), ...pageArgs(t.arg) },
    resolve: async (_root, { ownerId, ...args }, context) => {
      const { limit, after } = readPageArgs(args);
      const { tenantId } = requireAdmin(context);
      return {
        page: await listed(listAgents(context.reads, tenantId, ownerId ?? null, limit, after)),
        after,
        total: null,
      };
    },
  }),
  tokens: t.field({
    type: ApiTokenConnection,
    description: 'The tokens of the tenant, by id, never their secrets. Needs admin rights.',
    args: {
      personId: t.arg.id({ description: 'Only those of this person, or of agents acting for them.' }),
      ...pageArgs(t.arg),
    },
    resolve: async (_root, { personId, ...args }, context) => {
      const { limit, after } = readPageArgs(args);
      const { tenantId } = requireAdmin(context);
      return {
        page: await listed(listTokens(context.reads, tenantId, personId ?? null, limit, after)),
        after,
        total: null,
      };
    },
  }),
}));
