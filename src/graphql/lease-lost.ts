import { GraphQLError } from 'graphql';
import type { Loss } from '../events/event-filter.ts';
import { type CursorTooOld, followLost, type LostLease, type LostMessage } from '../events/lost.ts';
import { builder } from './builder.ts';
import { slowConsumer } from './lease-event-subscription.ts';
import { invalidCursor, readAfter } from './lease-events.ts';
import { Person, stranger } from './person.ts';

/** What a holder is told of a lease that it lost. */
const LeaseLossReason = builder.enumType('LeaseLossReason', {
  description: 'Why a lease was lost.',
  values: Object.fromEntries(
    Object.entries({
      EXPIRED: 'It lapsed; the sweep found it, or a verb that took it for nobody else.',
      TAKEN: 'It lapsed, and was granted to another person before anything else found it.',
      SUPERSEDED: 'Another launch of the same person replaced it.',
      BROKEN: 'An admin ended it.',
      RELEASED_ELSEWHERE:
        'A call of the same person released it and named neither its fence nor, in bulk, its session.',
    } satisfies Record<Loss, string>).map(([name, description]) => [name, { description }]),
  ) as Record<Loss, { description: string }>,
});

const LeaseLostNotice = builder.objectRef<LostLease>('LeaseLostNotice').implement({
  description: 'A lease has ended, and that was not the doing of the run that held it. Stop working on the node.',
  fields: (t) => ({
    nodeId: t.id({ description: 'The id of the node.', resolve: ({ event }) => event.nodeId }),
    fence: t.string({
      description: 'The fence of the lease that was lost: a decimal number.',
      resolve: ({ event }) => String(event.fence),
    }),
    reason: t.expose('reason', { type: LeaseLossReason, description: 'Why it was lost.' }),
    by: t.field({
      type: Person,
      nullable: true,
      description: 'Who brought it about; null when it lapsed without being taken.',
      resolve: async ({ by }, _args, { load }) => (by === null ? null : ((await load.person.load(by)) ?? stranger(by))),
    }),
    currentHolder: t.field({
      type: Person,
      nullable: true,
      description: 'Who holds the node when this is sent; null for nobody.',
      resolve: async ({ current }, _args, { load }) =>
        current === null ? null : ((await load.person.load(current.holder)) ?? stranger(current.holder)),
    }),
    currentFence: t.string({
      nullable: true,
      description: 'The fence of the lease in force when this is sent, a decimal number; null when nobody holds it.',
      resolve: ({ current }) => (current === null ? null : String(current.fence)),
    }),
    at: t.field({ type: 'DateTime', description: 'When it ended.', resolve: ({ event }) => event.at }),
    seq: t.string({
      description:
        "The place of the ending in the tenant's history: a decimal number. Resume from the highest one seen.",
      resolve: ({ event }) => String(event.seq),
    }),
  }),
});

builder.subscriptionField('leaseLost', (t) =>
  t.field({
    type: LeaseLostNotice,
    description:
      "Tells the caller's person of each lease that it lost. Agents of one owner are one holder. Errors: INVALID_CURSOR; CURSOR_TOO_OLD with oldestSeq and latestSeq when endings behind the cursor are no longer kept: then read what is held, and subscribe after latestSeq; SLOW_CONSUMER with lastSeq ends a subscriber that does not keep up.",
    args: {
      session: t.arg.string({
        description: 'Only leases bound to exactly this run when they ended; all when left out.',
      }),
      after: t.arg.string({
        description: 'What was lost behind this seq, then what is lost from now on; only the latter when left out.',
      }),
    },
    subscribe: async (_root, { session, after }, { live, identity }) => {
      const from = after == null ? null : readAfter(after);
      const holder = { tenantId: identity.tenantId, person: identity.person.personId, session: session ?? null };
      const followed = await followLost(live, holder, from);
      if ('oldestSeq' in followed) throw cursorTooOld(followed);
      if ('latestSeq' in followed)
        throw invalidCursor(`after is ${from}, and the latest event is ${followed.latestSeq}.`);
      return followed;
    },
    resolve: (sent) => {
      const message = sent as LostMessage;
      switch (message.kind) {
        case 'lost':
          return message.lost;
        case 'slow':
          throw slowConsumer(message.lastSeq);
        case 'cursor too old':
          throw cursorTooOld(message);
        case 'failed':
          throw message.error;
      }
    },
  }),
);

function cursorTooOld({ oldestSeq, latestSeq }: CursorTooOld): GraphQLError {
  return new GraphQLError('What was lost right behind this cursor is no longer kept. Read what is held, then go on.', {
    extensions: { code: 'CURSOR_TOO_OLD', oldestSeq: String(oldestSeq), latestSeq: String(latestSeq) },
  });
}
