import DataLoader from 'dataloader';
import type { LeaseView } from '../lease/refusal.ts';
import { countLeases, type LeaseFilter, listLeases, listLeasesOfEach } from '../read/lease-list.ts';
import type { Page } from '../read/page.ts';
import { builder } from './builder.ts';
import {
  type ConnectionShape,
  connectionOf,
  invalid,
  listed,
  once,
  type PageArgs,
  pageArgs,
  readPageArgs,
} from './connection.ts';
import type { GraphqlContext } from './context.ts';
import { Lease } from './lease.ts';
import { Person } from './person.ts';

/** Who holds what. */
export const LeaseFilterInput = builder.inputType('LeaseFilter', {
  description: 'Which leases. All that is given must hold.',
  fields: (t) => ({
    personId: t.id({ description: 'Held by this person.' }),
    agentId: t.id({ description: 'Last acted on by this agent.' }),
    session: t.string({ description: 'Bound to exactly this run.' }),
    project: t.string({ description: 'Of nodes in this project.' }),
    nodeIds: t.idList({ description: 'Of these nodes.' }),
    reserved: t.boolean({ description: 'Only reservations, or only ordinary leases.' }),
    expiringWithinMs: t.float({ description: 'Ending within this time from now, in milliseconds.' }),
  }),
});

const LeaseOrder = builder.enumType('LeaseOrder', {
  description: 'How leases are ordered.',
  values: {
    AGE: { description: 'The oldest grant first. Pages are complete and without repeats.' },
    ENDS_AT: {
      description: 'The soonest end first. A sort of all that is selected; a heartbeat moves a lease on in it.',
    },
  } as const,
});

const LeaseConnection = connectionOf<LeaseView>('Lease', 'leases in force', Lease, true);

/** @throws GraphQLError INVALID_INPUT */
export function checkLeaseFilter({ expiringWithinMs }: LeaseFilter): void {
  if (expiringWithinMs != null && !(expiringWithinMs >= 0))
    throw invalid('expiringWithinMs', 'expiringWithinMs must be 0 or more.');
}

async function leasesOf(
  { reads, identity }: GraphqlContext,
  filter: LeaseFilter,
  args: PageArgs,
  order: 'AGE' | 'ENDS_AT',
): Promise<ConnectionShape<LeaseView>> {
  checkLeaseFilter(filter);
  const { limit, after } = readPageArgs(args);
  const { tenantId } = identity;
  return {
    page: await listed(listLeases(reads, tenantId, filter, { order, limit, after })),
    after,
    total: once(() => countLeases(reads, tenantId, filter)),
  };
}

builder.queryField('leases', (t) =>
  t.field({
    type: LeaseConnection,
    description: 'The leases in force, reservations too.',
    args: {
      filter: t.arg({ type: LeaseFilterInput, description: 'Which of them; all when left out.' }),
      orderBy: t.arg({ type: LeaseOrder, description: 'How to order them; AGE when left out.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, { filter, orderBy, ...args }, context) => leasesOf(context, filter ?? {}, args, orderBy ?? 'AGE'),
  }),
);

builder.objectField(Person, 'leases', (t) =>
  t.field({
    type: LeaseConnection,
    description: 'What the person holds, the oldest grant first.',
    args: pageArgs(t.arg),
    resolve: async ({ personId }, args, context) => {
      if (args.after != null) return leasesOf(context, { personId }, args, 'AGE');
      const { limit } = readPageArgs(args);
      const page = await firstPages(context, limit).load(personId);
      const { reads, identity } = context;
      return { page, after: null, total: once(() => countLeases(reads, identity.tenantId, { personId })) };
    },
  }),
);

/** First pages of many people by one statement, whoever of a list they are. */
const loaders = new WeakMap<GraphqlContext, Map<number, DataLoader<string, Page<LeaseView>>>>();

function firstPages(context: GraphqlContext, limit: number): DataLoader<string, Page<LeaseView>> {
  const ofContext = loaders.get(context) ?? new Map<number, DataLoader<string, Page<LeaseView>>>();
  loaders.set(context, ofContext);
  const known = ofContext.get(limit);
  if (known !== undefined) return known;
  const loader = new DataLoader<string, Page<LeaseView>>(
    async (people) => {
      const pages = await listLeasesOfEach(context.reads, context.identity.tenantId, [...new Set(people)], limit);
      return people.map((person) => pages.get(person) ?? { rows: [], hasMore: false });
    },
    { cache: false, maxBatchSize: 100 },
  );
  ofContext.set(limit, loader);
  return loader;
}
