import { GraphQLError } from 'graphql';
import type { EVENT_KINDS } from '../lease/event.ts';
import { type HolderAt as HolderAtRead, readHolderAt } from '../read/holder-at.ts';
import { type EventPage, type EventRead, listEvents } from '../read/lease-events.ts';
import { builder } from './builder.ts';
import { PageInfo, pageArgs, readPageArgs } from './connection.ts';
import { Lease } from './lease.ts';
import { Agent, Person, stranger } from './person.ts';

/** The durable history, and who held a node at a moment of it. */
const LeaseEventKind = builder.enumType('LeaseEventKind', {
  description: 'What happened. Each grant has one beginning and one ending, with its fence.',
  values: Object.fromEntries(
    Object.entries({
      CLAIMED: 'A lease began, by claim or by an active status.',
      RECLAIMED: 'A lease began, by renew, extend or reserve.',
      RELEASED: 'A lease ended by its holder.',
      EXPIRED: 'A lease lapsed; a reservation too, which then escalates to everyone.',
      SUPERSEDED: 'A lease ended because another launch of its holder replaced it.',
      BROKEN: 'A lease ended by an admin.',
      EXTENDED: 'The end moved by extend.',
      RESERVED: 'The lease became a reservation, or its grace began anew.',
      RESUMED: 'The reservation became an ordinary lease.',
      REBOUND: 'The session or the nonce of the lease changed.',
      STATUS_CHANGED: 'The status of the node changed.',
      NODE_CREATED: 'The node was made.',
      EDGE_ADDED: 'An edge was written by hand.',
      EDGE_REMOVED: 'An edge was taken away by hand.',
    } satisfies Record<(typeof EVENT_KINDS)[number], string>).map(([name, description]) => [name, { description }]),
  ) as Record<(typeof EVENT_KINDS)[number], { description: string }>,
});

const Actor = builder.objectRef<{ readonly person: string; readonly agent: string | null }>('Actor').implement({
  description: 'Who called.',
  fields: (t) => ({
    person: t.field({
      type: Person,
      description: 'The person.',
      resolve: async ({ person }, _args, { load }) => (await load.person.load(person)) ?? stranger(person),
    }),
    agent: t.field({
      type: Agent,
      nullable: true,
      description: "The agent that acted for the person; null for the person's own token.",
      resolve: ({ agent }, _args, { load }) => (agent === null ? null : load.agent.load(agent)),
    }),
  }),
});

export const LeaseEvent = builder.objectRef<EventRead>('LeaseEvent').implement({
  description: 'Something that happened to a lease or to its node, kept in the order of the commits.',
  fields: (t) => ({
    seq: t.string({
      description: "Its place in the tenant's history: a decimal number, without holes.",
      resolve: ({ seq }) => String(seq),
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When it was committed. Rises with seq.' }),
    kind: t.expose('kind', { type: LeaseEventKind, description: 'What happened.' }),
    nodeId: t.exposeID('nodeId', { description: 'The id of the node.' }),
    holder: t.field({
      type: Person,
      nullable: true,
      description: 'Who held the lease; null where no lease is meant.',
      resolve: async ({ holder }, _args, { load }) =>
        holder === null ? null : ((await load.person.load(holder)) ?? stranger(holder)),
    }),
    session: t.exposeString('session', {
      nullable: true,
      description: 'The run that the lease was bound to; null for none.',
    }),
    fence: t.string({
      nullable: true,
      description: 'The fence of the lease, a decimal number; null where no lease is meant.',
      resolve: ({ fence }) => (fence === null ? null : String(fence)),
    }),
    actor: t.field({
      type: Actor,
      nullable: true,
      description: 'Who called; null for the sweep.',
      resolve: ({ actorPerson, actorAgent }) =>
        actorPerson === null ? null : { person: actorPerson, agent: actorAgent },
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The end that the lease had, or got; null where no lease is meant.',
    }),
    reserved: t.exposeBoolean('reserved', { description: 'Whether the lease was a reservation.' }),
    status: t.exposeString('status', {
      nullable: true,
      description: 'The status that the node got; null where none was set.',
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'Why an admin ended the lease; null where none was given.',
    }),
  }),
});

export const LeaseEventGap = builder.objectRef<Pick<EventPage, 'oldestSeq' | 'latestSeq'>>('LeaseEventGap').implement({
  description: 'Events behind the cursor that are no longer kept.',
  fields: (t) => ({
    oldestSeq: t.string({
      description: 'The first that is kept: a decimal number.',
      resolve: ({ oldestSeq }) => String(oldestSeq),
    }),
    latestSeq: t.string({
      description: 'The last that was written: a decimal number.',
      resolve: ({ latestSeq }) => String(latestSeq),
    }),
  }),
});

export const LeaseEventFilter = builder.inputType('LeaseEventFilter', {
  description: 'Which events. All that is given must hold.',
  fields: (t) => ({
    nodeIds: t.idList({ description: 'Of these nodes.' }),
    kinds: t.field({ type: [LeaseEventKind], description: 'Of these kinds.' }),
    personId: t.id({ description: 'Where this person held the lease, or called.' }),
    session: t.string({ description: 'Of leases bound to exactly this run.' }),
    project: t.string({ description: 'Of nodes that were in this project.' }),
  }),
});

interface EventsShape {
  readonly page: EventPage;
  readonly after: bigint;
}

const LeaseEventEdge = builder.objectRef<EventRead>('LeaseEventEdge').implement({
  description: 'One event, with its place.',
  fields: (t) => ({
    cursor: t.string({ description: 'Its seq.', resolve: ({ seq }) => String(seq) }),
    node: t.field({ type: LeaseEvent, description: 'The event itself.', resolve: (event) => event }),
  }),
});

const LeaseEventConnection = builder.objectRef<EventsShape>('LeaseEventConnection').implement({
  description: 'A page of the history. Its cursors are seqs, so that the last one may feed the subscription.',
  fields: (t) => ({
    edges: t.field({
      type: [LeaseEventEdge],
      description: 'The events of this page.',
      resolve: ({ page }) => [...page.events],
    }),
    nodes: t.field({
      type: [LeaseEvent],
      description: 'The events of this page, without their places.',
      resolve: ({ page }) => [...page.events],
    }),
    pageInfo: t.field({
      type: PageInfo,
      description: 'Where this page is in the history.',
      resolve: ({ page, after }) => ({
        hasNextPage: page.hasMore,
        hasPreviousPage: after >= page.oldestSeq,
        startCursor: page.events[0] === undefined ? null : String(page.events[0].seq),
        // An empty page has nothing up to the latest, so that is where to go on.
        endCursor: String(page.events.at(-1)?.seq ?? page.latestSeq),
      }),
    }),
    gap: t.field({
      type: LeaseEventGap,
      nullable: true,
      description: 'Set when events between the cursor and this page are no longer kept.',
      resolve: ({ page }) => (page.gap ? page : null),
    }),
  }),
});

/** @throws GraphQLError INVALID_CURSOR */
export function readAfter(after: string | null): bigint {
  if (after === null) return 0n;
  if (/^\d{1,18}$/.test(after)) return BigInt(after);
  throw invalidCursor('after must be a seq: a decimal number.');
}

export function invalidCursor(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'INVALID_CURSOR', field: 'after' } });
}

builder.queryField('leaseEvents', (t) =>
  t.field({
    type: LeaseEventConnection,
    description: 'The history of the tenant, the oldest first. Errors: INVALID_CURSOR.',
    args: {
      filter: t.arg({ type: LeaseEventFilter, description: 'Which events; all when left out.' }),
      ...pageArgs(t.arg),
    },
    resolve: async (_root, { filter, ...args }, { reads, identity }) => {
      const { limit, after: cursor } = readPageArgs(args);
      const after = readAfter(cursor);
      const page = await listEvents(reads, identity.tenantId, after, filter ?? {}, limit);
      if (after > page.latestSeq) throw invalidCursor(`after is ${after}, and the latest event is ${page.latestSeq}.`);
      return { page, after };
    },
  }),
);

const HolderAt = builder.objectRef<HolderAtRead & { readonly nodeId: string }>('HolderAt').implement({
  description: 'Who held a node at a moment.',
  fields: (t) => ({
    known: t.exposeBoolean('known', {
      description: 'Whether the history reaches back that far; if not, nothing else is known.',
    }),
    holder: t.field({
      type: Person,
      nullable: true,
      description: 'Who held it; null for nobody.',
      resolve: async ({ holder }, _args, { load }) =>
        holder === null ? null : ((await load.person.load(holder)) ?? stranger(holder)),
    }),
    start: t.expose('start', {
      type: 'DateTime',
      nullable: true,
      description: 'When that lease was granted; null for nobody.',
    }),
    fence: t.string({
      nullable: true,
      description: 'The fence of that lease, a decimal number; null for nobody.',
      resolve: ({ fence }) => (fence === null ? null : String(fence)),
    }),
    lease: t.field({
      type: Lease,
      nullable: true,
      description: 'That lease as it is now, if it is still in force.',
      resolve: async ({ nodeId, fence }, _args, { load }) => {
        const lease = fence === null ? null : await load.lease.load(nodeId);
        return lease?.fence === fence ? lease : null;
      },
    }),
  }),
});

builder.queryField('holderAt', (t) =>
  t.field({
    type: HolderAt,
    description: 'Who held a node at a moment, from its history.',
    args: {
      nodeId: t.arg.id({ required: true, description: 'The id of the node.' }),
      at: t.arg({ type: 'DateTime', required: true, description: 'The moment.' }),
    },
    resolve: async (_root, { nodeId, at }, { reads, identity }) => ({
      ...(await readHolderAt(reads, identity.tenantId, nodeId, at.getTime())),
      nodeId,
    }),
  }),
);
