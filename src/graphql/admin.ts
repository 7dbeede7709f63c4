import { AdminFault } from '../identity/admin-fault.ts';
import type { Identity } from '../identity/authenticate.ts';
import { createAgent, createPerson } from '../identity/people.ts';
import { createToken, revokeToken } from '../identity/tokens.ts';
import { builder } from './builder.ts';
import type { GraphqlContext } from './context.ts';
import { Agent, Person } from './person.ts';

/** People, agents and tokens; for admin tokens only. Faults are top-level errors. */
const CreatePersonInput = builder.inputType('CreatePersonInput', {
  description: 'Who is new.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The id of the person: small letters, digits and dashes.' }),
    name: t.string({ required: true, description: 'The name to show.' }),
    email: t.string({ description: 'The mail address.' }),
  }),
});

const CreateAgentInput = builder.inputType('CreateAgentInput', {
  description: 'Which program acts for whom.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'The id of the agent: small letters, digits and dashes.' }),
    ownerId: t.id({ required: true, description: 'The person it acts for.' }),
    label: t.string({ description: 'What to call it.' }),
  }),
});

const CreateTokenInput = builder.inputType('CreateTokenInput', {
  description: 'Whose token, with what rights, for how long.',
  fields: (t) => ({
    personId: t.id({ description: 'Whose token it is. May be left out with an agent.' }),
    agentId: t.id({ description: 'The agent that will carry it, acting for its owner.' }),
    label: t.string({ description: 'What to call it.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it ends; never when left out.' }),
    admin: t.boolean({ description: 'Whether it has admin rights; it has none when left out.' }),
  }),
});

const RevokeTokenInput = builder.inputType('RevokeTokenInput', {
  description: 'Which token.',
  fields: (t) => ({ id: t.id({ required: true, description: 'The id of the token, never the token itself.' }) }),
});

const CreatePersonPayload = builder.objectRef<{ personId: string }>('CreatePersonPayload').implement({
  description: 'The person that was made.',
  fields: (t) => ({
    person: t.field({
      type: Person,
      nullable: true,
      description: 'The person.',
      resolve: ({ personId }, _args, { load }) => load.person.load(personId),
    }),
  }),
});

const CreateAgentPayload = builder.objectRef<{ agentId: string }>('CreateAgentPayload').implement({
  description: 'The agent that was made.',
  fields: (t) => ({
    agent: t.field({
      type: Agent,
      nullable: true,
      description: 'The agent.',
      resolve: ({ agentId }, _args, { load }) => load.agent.load(agentId),
    }),
  }),
});

const CreateTokenPayload = builder.objectRef<{ token: string; id: string }>('CreateTokenPayload').implement({
  description: 'The token that was made.',
  fields: (t) => ({
    token: t.exposeString('token', { description: 'The token itself. It is shown this once and stored nowhere.' }),
    id: t.exposeID('id', { description: 'The id to revoke it by.' }),
  }),
});

const RevokeTokenPayload = builder.objectRef<{ id: string }>('RevokeTokenPayload').implement({
  description: 'The token that ended.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'The id of the token.' }) }),
});

/** @throws AdminFault FORBIDDEN */
export function requireAdmin({ identity }: GraphqlContext): Identity {
  if (!identity.admin) throw new AdminFault('FORBIDDEN', 'This needs an admin token.');
  return identity;
}

builder.mutationFields((t) => ({
  createPerson: t.field({
    type: CreatePersonPayload,
    nullable: true,
    description: 'Makes a person. Needs admin rights. Errors: ALREADY_EXISTS, INVALID_INPUT.',
    args: { input: t.arg({ type: CreatePersonInput, required: true, description: 'Who.' }) },
    resolve: async (_root, { input: { id, name, email } }, context) => {
      await createPerson(context.reads, requireAdmin(context).tenantId, { id, name, email: email ?? null });
      return { personId: id };
    },
  }),
  createAgent: t.field({
    type: CreateAgentPayload,
    nullable: true,
    description: 'Makes an agent of a person. Needs admin rights. Errors: ALREADY_EXISTS, INVALID_INPUT, NOT_FOUND.',
    args: { input: t.arg({ type: CreateAgentInput, required: true, description: 'Which agent, of whom.' }) },
    resolve: async (_root, { input: { id, ownerId, label } }, context) => {
      await createAgent(context.reads, requireAdmin(context).tenantId, { id, ownerId, label: label ?? null });
      return { agentId: id };
    },
  }),
  createToken: t.field({
    type: CreateTokenPayload,
    nullable: true,
    description: 'Makes a token for a person or an agent. Needs admin rights. Errors: INVALID_INPUT, NOT_FOUND.',
    args: { input: t.arg({ type: CreateTokenInput, required: true, description: 'Whose, with what rights.' }) },
    resolve: (_root, { input: { personId, agentId, label, expiresAt, admin } }, context) =>
      createToken(context.reads, requireAdmin(context).tenantId, {
        personId: personId ?? null,
        agentId: agentId ?? null,
        label: label ?? null,
        expiresAt: expiresAt ?? null,
        admin: admin ?? false,
      }),
  }),
  revokeToken: t.field({
    type: RevokeTokenPayload,
    nullable: true,
    description: 'Ends a token at once. Needs admin rights. Safe to repeat. Errors: NOT_FOUND.',
    args: { input: t.arg({ type: RevokeTokenInput, required: true, description: 'Which token.' }) },
    resolve: async (_root, { input: { id } }, context) => {
      await revokeToken(context.reads, requireAdmin(context).tenantId, id);
      return { id };
    },
  }),
}));
