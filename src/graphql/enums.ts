import type { REFUSAL_CODES } from '../lease/refusal.ts';
import { builder } from './builder.ts';

/** The words of the REST door, in capitals. */
const described = <K extends string>(values: Record<K, string>) =>
  Object.fromEntries(Object.entries<string>(values).map(([name, description]) => [name, { description }])) as Record<
    K,
    { description: string }
  >;

export const VerbStatus = builder.enumType('VerbStatus', {
  description: 'What a verb did.',
  values: described({
    CLAIMED: 'The caller holds the node; also answered when a claim renewed an own lease.',
    RENEWED: 'The lease runs at least its ordinary length from now.',
    EXTENDED: 'The end of the lease was moved, as far as the ceiling allows.',
    RESERVED: 'The node is parked for its owner until the grace window ends.',
    RELEASED: 'The caller holds nothing here, and its assigned edge is gone.',
    UPDATED: 'The status of the node was set.',
  }),
});

export const BulkStatus = builder.enumType('BulkStatus', {
  description: 'What a bulk call did: its verb when every item landed.',
  values: described({
    CLAIMED: 'Every node was claimed.',
    RENEWED: 'Every lease was renewed.',
    EXTENDED: 'Every lease was extended.',
    RESERVED: 'Every node was reserved.',
    RELEASED: 'Every node was released.',
    PARTIAL: 'Some items landed; the results say which did not, and why.',
    REFUSED: 'No item landed.',
    EMPTY: 'There was nothing to take.',
  }),
});

export const EdgeChange = builder.enumType('EdgeChange', {
  description: "What happened to the caller's assigned edge.",
  values: described({
    ADDED: 'It was written.',
    SKIPPED: 'There was nothing to do.',
    REMOVED: 'It was taken away.',
  }),
});

export const RefusalCode = builder.enumType('RefusalCode', {
  description: 'Why a verb was refused.',
  values: described({
    CONFLICT: "Another person's lease is in force, or another launch of the caller's holds the node.",
    LEASE_LOST: "Another person's lease is in force, or the lease of the given fence is not.",
    NOT_FOUND: 'The tenant has no such node.',
    NOT_READY: 'The node is in a terminal status, so it can not be taken.',
    INVALID_NODE: 'Nodes of this type carry no lease.',
    INVALID_INPUT: 'A value has not the form it must have; nothing was looked up.',
    TRANSITION_DENIED: 'Nodes of this type can not be set to this status.',
    LIMIT_REACHED: 'The caller holds as many leases as one person may.',
  } satisfies Record<Uppercase<(typeof REFUSAL_CODES)[number]>, string>),
});

export const IfExists = builder.enumType('IfExists', {
  description: 'What to do about a node that exists already.',
  values: {
    FAIL: { value: 'fail', description: 'Answer FAILED for it, and leave it.' },
    SKIP: { value: 'skip', description: 'Leave it.' },
    UPDATE: { value: 'update', description: 'Take over the given fields and add the given edges; no edge is removed.' },
  } as const,
});

export const NodePutStatus = builder.enumType('NodePutStatus', {
  description: 'What became of a node that was put.',
  values: described({
    CREATED: 'It was made.',
    UPDATED: 'It was changed.',
    SKIPPED: 'It was there already, and was left or had nothing to change.',
    FAILED: 'It was not taken; the error says why.',
  }),
});
