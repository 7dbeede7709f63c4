import type { Messages } from './live-rig.ts';

/** Follows the history: who asks what of whom is up to the test. */
export const FOLLOW = `subscription ($after: String, $filter: LeaseEventFilter) {
  leaseEvents(after: $after, filter: $filter) {
    __typename
    ... on LeaseEvent { seq kind nodeId }
    ... on LeaseEventCursor { cursor: seq }
    ... on LeaseEventGap { oldestSeq latestSeq }
  }
}`;

export interface ToldEvent {
  readonly seq: number;
  readonly kind: string;
  readonly nodeId: string;
}

/** The events among all messages so far. */
export function toldBy(messages: Pick<Messages, 'all'>): ToldEvent[] {
  return messages.all
    .map(({ data }) => data.leaseEvents)
    .filter(({ __typename }) => __typename === 'LeaseEvent')
    .map(({ seq, kind, nodeId }) => ({ seq: Number(seq), kind, nodeId }));
}

export const seqsOf = (messages: Pick<Messages, 'all'>) => toldBy(messages).map(({ seq }) => seq);

/** The numbers behind the first up to the last. */
export const range = (after: number, last: number) => Array.from({ length: last - after }, (_, at) => after + 1 + at);
