import type { RefusalCode as Code, Refusal as Refused } from '../lease/refusal.ts';
import { builder } from './builder.ts';
import { RefusalCode } from './enums.ts';
import { Lease } from './lease.ts';

/** Refusals as members of result unions: one type for each reason, one interface for all. */
export interface RefusedItem {
  /** The id as the caller wrote it. */
  readonly nodeId: string;
  readonly refusal: Refused;
}

const Refusal = builder.interfaceRef<RefusedItem>('Refusal').implement({
  description: 'Why a verb did nothing. It changes nothing, and the call may be repeated when the reason is gone.',
  fields: (t) => ({
    code: t.field({
      type: RefusalCode,
      description: 'The reason, for programs.',
      resolve: ({ refusal }) => refusal.code.toUpperCase() as Uppercase<Code>,
    }),
    message: t.string({
      description: 'The reason, for people: who holds what until when, and what to do next.',
      resolve: ({ refusal }) => refusal.message,
    }),
    nodeId: t.exposeID('nodeId', { description: 'The id as the caller wrote it.' }),
  }),
});

const plain = (name: string, description: string) =>
  builder.objectRef<RefusedItem>(name).implement({ description, interfaces: [Refusal] });

const withHolder = (name: string, description: string) =>
  builder.objectRef<RefusedItem>(name).implement({
    description,
    interfaces: [Refusal],
    fields: (t) => ({
      holder: t.field({
        type: Lease,
        nullable: true,
        description: 'The lease in force that stands in the way; null when nobody holds the node.',
        resolve: ({ refusal }) => refusal.holder,
      }),
    }),
  });

const LeaseConflict = withHolder('LeaseConflict', "Another's lease is in force, or another launch of the caller's.");
const LeaseLost = withHolder('LeaseLost', "Another's lease is in force, or the one of the given fence is not.");
const NodeNotFound = plain('NodeNotFound', 'The tenant has no such node.');
const NodeNotReady = plain('NodeNotReady', 'The node is in a terminal status, so it can not be taken.');
const NodeNotLeasable = plain('NodeNotLeasable', 'Nodes of this type carry no lease.');
const TransitionDenied = plain('TransitionDenied', 'Nodes of this type can not be set to this status.');

const InvalidInput = builder.objectRef<RefusedItem>('InvalidInput').implement({
  description: 'A value has not the form it must have. Nothing was looked up.',
  interfaces: [Refusal],
  fields: (t) => ({
    field: t.string({
      nullable: true,
      description: 'The name of the input field; null when it is the input as a whole.',
      resolve: ({ refusal }) => refusal.field ?? null,
    }),
  }),
});

const LeaseLimitReached = builder.objectRef<RefusedItem>('LeaseLimitReached').implement({
  description: 'The caller holds as many leases as one person may.',
  interfaces: [Refusal],
  fields: (t) => ({
    limit: t.int({
      description: 'The most leases in force for one person.',
      resolve: ({ refusal }) => refusal.limit ?? 0,
    }),
  }),
});

/** The type of each refusal. */
export const REFUSAL_TYPES = {
  conflict: LeaseConflict,
  lease_lost: LeaseLost,
  not_found: NodeNotFound,
  not_ready: NodeNotReady,
  invalid_node: NodeNotLeasable,
  invalid_input: InvalidInput,
  transition_denied: TransitionDenied,
  limit_reached: LeaseLimitReached,
} as const satisfies Record<Code, unknown>;
