import { GraphQLError } from 'graphql';
import type { LeaseView } from '../lease/refusal.ts';
import { builder } from './builder.ts';
import { Lease } from './lease.ts';

/** The warning before a lease ends. */
const LeaseExpiringNotice = builder.objectRef<LeaseView>('LeaseExpiringNotice').implement({
  description: 'A lease is about to end. Renew it, or be done before it does.',
  fields: (t) => ({
    lease: t.field({
      type: Lease,
      description: 'The lease as it was right before this was sent.',
      resolve: (it) => it,
    }),
    expiresInMs: t.exposeFloat('expiresInMs', { description: 'Time left when that was read, in milliseconds.' }),
  }),
});

const LONGEST_MS = 7 * 24 * 60 * 60 * 1_000;

builder.subscriptionField('leaseExpiring', (t) =>
  t.field({
    type: LeaseExpiringNotice,
    description:
      "Warns the caller's person of each lease and reservation that is about to end, once for each end that it had; of those that are within that time already, at once. A renewal before then silences it. Errors: INVALID_INPUT.",
    args: {
      withinMs: t.arg.float({
        required: true,
        description: 'How long before the end, in milliseconds: above 0, at most 7 days.',
      }),
      session: t.arg.string({ description: 'Only leases bound to exactly this run; all when left out.' }),
    },
    subscribe: (_root, { withinMs, session }, { live, identity }) => {
      if (!(withinMs > 0 && withinMs <= LONGEST_MS)) {
        throw new GraphQLError(`withinMs must be above 0 and at most ${LONGEST_MS}.`, {
          extensions: { code: 'INVALID_INPUT', field: 'withinMs' },
        });
      }
      const { tenantId, person } = identity;
      const whose = { tenantId, person: person.personId, session: session ?? null };
      return live.expiring.watch({ ...whose, withinMs: Math.ceil(withinMs) });
    },
    resolve: (sent) => sent as LeaseView,
  }),
);
