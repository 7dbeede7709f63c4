import type { Identity } from '../identity/authenticate.ts';
import { readClock } from '../read/clock.ts';
import { builder } from './builder.ts';
import { Agent, Person } from './person.ts';

/** Who calls, and what time it is. */
const Viewer = builder.objectRef<Identity>('Viewer').implement({
  description: 'Who the token makes the caller.',
  fields: (t) => ({
    person: t.field({
      type: Person,
      description: 'The person who holds what this caller claims.',
      resolve: ({ person }) => person,
    }),
    agent: t.field({
      type: Agent,
      nullable: true,
      description: "The agent that acts for the person; null for the person's own token.",
      resolve: ({ agent, person }) => (agent === null ? null : { ...agent, ownerId: person.personId }),
    }),
    isAdmin: t.exposeBoolean('admin', { description: 'Whether the token has admin rights.' }),
  }),
});

builder.queryFields((t) => ({
  viewer: t.field({ type: Viewer, description: 'The caller.', resolve: (_root, _args, { identity }) => identity }),
  serverTime: t.field({
    type: 'DateTime',
    description: "The clock that decides: the database's.",
    resolve: (_root, _args, { reads }) => readClock(reads),
  }),
}));
