import type { EventFilter, EventRead } from '../read/lease-events.ts';

/** Whether an event passes a filter: the same answer that the query by which events are read gives. */
export function passes(event: EventRead, filter: EventFilter): boolean {
  const { nodeIds, kinds, personId, session, project, lostBy } = filter;
  return (
    (nodeIds == null || nodeIds.includes(event.nodeId)) &&
    (kinds == null || kinds.includes(event.kind)) &&
    (personId == null || event.holder === personId || event.actorPerson === personId) &&
    (session == null || event.session === session) &&
    (project == null || event.project === project) &&
    (lostBy == null || (event.holder === lostBy && lossOf(event) !== null))
  );
}

/** Why a lease was lost: an ending that was not its holder's own doing. */
export type Loss = 'EXPIRED' | 'TAKEN' | 'SUPERSEDED' | 'BROKEN' | 'RELEASED_ELSEWHERE';

/** The loss that an event tells of; null for what is none. */
export function lossOf({ kind, cause }: Pick<EventRead, 'kind' | 'cause'>): Loss | null {
  switch (kind) {
    case 'EXPIRED':
      return cause === 'taken' ? 'TAKEN' : 'EXPIRED';
    case 'RELEASED':
      return cause === 'named' ? null : 'RELEASED_ELSEWHERE';
    case 'SUPERSEDED':
    case 'BROKEN':
      return kind;
    default:
      return null;
  }
}
