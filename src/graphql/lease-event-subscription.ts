import { GraphQLError } from 'graphql';
import { type Followed, follow } from '../events/follow.ts';
import { builder } from './builder.ts';
import { invalidCursor, LeaseEvent, LeaseEventFilter, LeaseEventGap, readAfter } from './lease-events.ts';

/** The history as it happens. */
type Cursor = Extract<Followed, { kind: 'cursor' }>;

const LeaseEventCursor = builder.objectRef<Cursor>('LeaseEventCursor').implement({
  description:
    'Where to resume. The first message of a subscription without a cursor, and told after each quiet half minute.',
  fields: (t) => ({ seq: t.string({ description: 'The seq: a decimal number.', resolve: ({ seq }) => String(seq) }) }),
});

const LeaseEventMessage = builder.unionType('LeaseEventMessage', {
  description: 'An event, or where the subscription stands.',
  types: [LeaseEvent, LeaseEventGap, LeaseEventCursor],
  resolveType: (message) =>
    'at' in message ? LeaseEvent.name : 'oldestSeq' in message ? LeaseEventGap.name : LeaseEventCursor.name,
});

builder.subscriptionField('leaseEvents', (t) =>
  t.field({
    type: LeaseEventMessage,
    description:
      'What happens to leases and nodes, in order and without holes. Resume from the highest seq seen. Errors: INVALID_CURSOR; SLOW_CONSUMER with lastSeq ends a subscriber that does not keep up.',
    args: {
      after: t.arg.string({ description: 'Events behind this seq, then live ones; live ones only when left out.' }),
      filter: t.arg({ type: LeaseEventFilter, description: 'Which events; all when left out.' }),
    },
    subscribe: async (_root, { after, filter }, { live, identity }) => {
      const from = after == null ? null : readAfter(after);
      const followed = await follow(live, identity.tenantId, from, filter ?? {});
      if ('latestSeq' in followed)
        throw invalidCursor(`after is ${from}, and the latest event is ${followed.latestSeq}.`);
      return followed;
    },
    resolve: (message) => {
      const followed = message as Followed;
      if (followed.kind === 'event') return followed.event;
      if (followed.kind === 'slow') throw slowConsumer(followed.lastSeq);
      return followed;
    },
  }),
);

/** The last message of a subscriber that did not keep up. */
export function slowConsumer(lastSeq: bigint): GraphQLError {
  return new GraphQLError('This subscription did not keep up and was ended. Subscribe again after lastSeq.', {
    extensions: { code: 'SLOW_CONSUMER', lastSeq: String(lastSeq) },
  });
}
