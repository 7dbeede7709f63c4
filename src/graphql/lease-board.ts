import type { BoardMessage } from '../events/board.ts';
import { builder } from './builder.ts';
import { Lease } from './lease.ts';
import { slowConsumer } from './lease-event-subscription.ts';
import { checkLeaseFilter, LeaseFilterInput } from './lease-list.ts';

/** Who holds what, kept right. */
type Snapshot = Extract<BoardMessage, { kind: 'snapshot' }>;
type Change = Extract<BoardMessage, { kind: 'change' }>;

const LeaseBoardSnapshot = builder.objectRef<Snapshot>('LeaseBoardSnapshot').implement({
  description: 'The leases in force, in parts of at most 500. All parts have one seq.',
  fields: (t) => ({
    seq: t.string({
      description: 'What was committed up to here is in the snapshot; what came later follows as changes.',
      resolve: ({ seq }) => String(seq),
    }),
    serverTime: t.expose('serverTime', {
      type: 'DateTime',
      description: 'When this part was read, by the clock that decides.',
    }),
    leases: t.field({
      type: [Lease],
      description: 'The leases of this part, the oldest grant first.',
      resolve: ({ leases }) => [...leases],
    }),
    complete: t.exposeBoolean('complete', { description: 'Whether this is the last part; changes follow it.' }),
  }),
});

const LeaseBoardChange = builder.objectRef<Change>('LeaseBoardChange').implement({
  description: 'What a node came to. It replaces all that was told of the node before.',
  fields: (t) => ({
    seq: t.string({
      description: 'The seq of the event that changed it; of the latest event where no event did, as with a heartbeat.',
      resolve: ({ seq }) => String(seq),
    }),
    nodeId: t.exposeID('nodeId', { description: 'The id of the node.' }),
    lease: t.field({
      type: Lease,
      nullable: true,
      description: 'Its lease; null when the node is free, or its lease does not pass the filter any more.',
      resolve: ({ lease }) => lease,
    }),
  }),
});

const LeaseBoardMessage = builder.unionType('LeaseBoardMessage', {
  description: 'A part of the snapshot, or a change after it.',
  types: [LeaseBoardSnapshot, LeaseBoardChange],
  resolveType: (message) => ('complete' in message ? LeaseBoardSnapshot.name : LeaseBoardChange.name),
});

builder.subscriptionField('leaseBoard', (t) =>
  t.field({
    type: LeaseBoardMessage,
    description:
      'The leases in force, then each change, heartbeats too; those that come by other servers within 2 seconds. A lease is over when a change says null, not by its end alone. A slow subscriber is told the latest state of a node and not each one between; SLOW_CONSUMER with lastSeq ends one that falls too far behind: subscribe again for a new snapshot.',
    args: {
      filter: t.arg({
        type: LeaseFilterInput,
        description:
          'Which leases; all when left out. expiringWithinMs is a window that moves on with time: a lease that comes into it is told within 2 seconds, and one that a heartbeat takes out of it is told as null.',
      }),
    },
    subscribe: (_root, { filter }, { live, identity }) => {
      checkLeaseFilter(filter ?? {});
      return live.boards.open(identity.tenantId, filter ?? {});
    },
    resolve: (message) => {
      const told = message as BoardMessage;
      if (told.kind === 'slow') throw slowConsumer(told.lastSeq);
      return told;
    },
  }),
);
