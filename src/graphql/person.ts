import type { AgentRead, PersonRead } from '../read/people.ts';
import { builder } from './builder.ts';

/** People and agents. */
export const Person = builder.objectRef<PersonRead>('Person');

builder.node(Person, {
  description: 'Someone who holds leases. The holder of a lease is always a person; an agent acts for its owner.',
  id: { resolve: ({ personId }) => personId },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.person.load(id))),
  fields: (t) => ({
    personId: t.exposeID('personId', { description: 'The id of the person, as every argument takes it.' }),
    name: t.exposeString('name', { description: 'The name to show.' }),
    email: t.exposeString('email', { nullable: true, description: 'The mail address; null when none is known.' }),
  }),
});

export const Agent = builder.objectRef<AgentRead>('Agent');

builder.node(Agent, {
  description: 'A program that acts for its owner, a person. Agents of one owner are one holder.',
  id: { resolve: ({ agentId }) => agentId },
  loadMany: (ids, { load }) => Promise.all(ids.map((id) => load.agent.load(id))),
  fields: (t) => ({
    agentId: t.exposeID('agentId', { description: 'The id of the agent, as every argument takes it.' }),
    label: t.exposeString('label', {
      nullable: true,
      description: 'What the agent was called when it was made; null for none.',
    }),
    owner: t.field({
      type: Person,
      description: 'The person the agent acts for.',
      resolve: async ({ ownerId }, _args, { load }) => (await load.person.load(ownerId)) ?? stranger(ownerId),
    }),
  }),
});

/** A person of whom only the id is known; leases and edges keep ids, not rows. */
export function stranger(personId: string): PersonRead {
  return { personId, name: personId, email: null };
}
