import { renewAfterMs } from '../lease/lease.ts';
import type { Held, Outcome, Released } from '../lease/outcome.ts';
import type { RefusalCode } from '../lease/refusal.ts';
import { builder } from './builder.ts';
import { EdgeChange, VerbStatus } from './enums.ts';
import { Lease } from './lease.ts';
import { REFUSAL_TYPES, type RefusedItem } from './refusal.ts';

/** The result of each verb: its success, or one of the refusals that can occur. Single and bulk calls share them. */
export interface HeldItem {
  readonly nodeId: string;
  readonly held: Held;
}

export interface ReleasedItem {
  readonly nodeId: string;
  readonly released: Released;
}

export type ResultItem = HeldItem | ReleasedItem | RefusedItem;

/** An outcome as a member of its verb's union. */
export function toResult(nodeId: string, outcome: Outcome): ResultItem {
  switch (outcome.kind) {
    case 'held':
      return { nodeId, held: outcome };
    case 'released':
      return { nodeId, released: outcome };
    case 'refused':
      return { nodeId, refusal: outcome };
    default:
      throw new Error(`a lease verb answered ${outcome.kind}`);
  }
}

const success = (name: string, description: string) =>
  builder.objectRef<HeldItem>(name).implement({
    description,
    fields: (t) => ({
      status: t.field({
        type: VerbStatus,
        description: 'What the verb did.',
        resolve: ({ held }) => held.status.toUpperCase() as Uppercase<Held['status']>,
      }),
      lease: t.field({ type: Lease, description: 'The lease as it now is.', resolve: ({ held }) => held.lease }),
      expiresInMs: t.float({
        description: 'Time until the lease ends, in milliseconds, by the clock of the call.',
        resolve: ({ held }) => held.lease.expiresInMs,
      }),
      renewAfterMs: t.float({
        nullable: true,
        description: 'When the server wants the next heartbeat, in milliseconds from now; null for a reservation.',
        resolve: ({ held }) => (held.lease.reserved ? null : renewAfterMs(held.lease.expiresInMs, Math.random())),
      }),
    }),
  });

const edgeWord = { added: 'ADDED', skipped: 'SKIPPED', removed: 'REMOVED' } as const;

const ClaimLeaseSuccess = success('ClaimLeaseSuccess', 'The caller holds the node.');
builder.objectField(ClaimLeaseSuccess, 'edge', (t) =>
  t.field({
    type: EdgeChange,
    description: 'Whether the durable assigned edge was written now.',
    resolve: ({ held }) => edgeWord[held.edge ?? 'skipped'],
  }),
);

const RenewLeaseSuccess = success('RenewLeaseSuccess', 'The lease runs at least its ordinary length from now.');
const ExtendLeaseSuccess = success('ExtendLeaseSuccess', 'The lease was stretched, as far as the ceiling allows.');
const ReserveLeaseSuccess = success(
  'ReserveLeaseSuccess',
  'The node is parked for the caller until the grace window ends.',
);

for (const type of [RenewLeaseSuccess, ExtendLeaseSuccess, ReserveLeaseSuccess]) {
  builder.objectField(type, 'reclaimed', (t) =>
    t.boolean({
      description: 'Whether the node was free or lapsed and was taken on the way.',
      resolve: ({ held }) => held.reclaimed,
    }),
  );
}
builder.objectFields(ExtendLeaseSuccess, (t) => ({
  cappedToMax: t.boolean({
    description: 'Whether the request went past the ceiling.',
    resolve: ({ held }) => held.cappedToMs !== null,
  }),
  claimTtlMaxMs: t.float({
    nullable: true,
    description: 'The ceiling, in milliseconds from now, when the request went past it; null when it did not.',
    resolve: ({ held }) => held.cappedToMs,
  }),
}));
builder.objectField(ReserveLeaseSuccess, 'graceWindowMs', (t) =>
  t.float({
    description: 'The length of the grace window, in milliseconds.',
    resolve: ({ held }) => held.graceWindowMs ?? 0,
  }),
);

const ReleaseLeaseSuccess = builder.objectRef<ReleasedItem>('ReleaseLeaseSuccess').implement({
  description: 'The caller holds nothing here.',
  fields: (t) => ({
    status: t.field({
      type: VerbStatus,
      description: 'What the verb did: RELEASED.',
      resolve: () => 'RELEASED' as const,
    }),
    nodeId: t.exposeID('nodeId', { description: 'The id of the node.' }),
    edge: t.field({
      type: EdgeChange,
      description: "Whether the caller's assigned edge was taken away now.",
      resolve: ({ released }) => edgeWord[released.edge],
    }),
  }),
});

/** A union of a success and the refusals that its verb can answer. */
function resultUnion(
  name: string,
  description: string,
  successType: ReturnType<typeof success> | typeof ReleaseLeaseSuccess,
  codes: readonly RefusalCode[],
) {
  return builder.unionType(name, {
    description,
    types: [successType, ...codes.map((code) => REFUSAL_TYPES[code])],
    resolveType: (item: ResultItem) => ('refusal' in item ? REFUSAL_TYPES[item.refusal.code].name : successType.name),
  });
}

export type ResultUnion = ReturnType<typeof resultUnion>;

const GRANTING = ['not_found', 'not_ready', 'invalid_node', 'invalid_input', 'limit_reached'] as const;

export const ClaimLeaseResult = resultUnion('ClaimLeaseResult', 'The answer of a claim.', ClaimLeaseSuccess, [
  'conflict',
  ...GRANTING,
]);
export const RenewLeaseResult = resultUnion('RenewLeaseResult', 'The answer of a heartbeat.', RenewLeaseSuccess, [
  'lease_lost',
  ...GRANTING,
]);
export const ExtendLeaseResult = resultUnion('ExtendLeaseResult', 'The answer of an extension.', ExtendLeaseSuccess, [
  'lease_lost',
  ...GRANTING,
]);
export const ReserveLeaseResult = resultUnion(
  'ReserveLeaseResult',
  'The answer of a reservation.',
  ReserveLeaseSuccess,
  ['lease_lost', ...GRANTING],
);
export const ReleaseLeaseResult = resultUnion('ReleaseLeaseResult', 'The answer of a release.', ReleaseLeaseSuccess, [
  ...(['conflict', 'lease_lost', 'not_found', 'invalid_node', 'invalid_input'] as const),
]);
