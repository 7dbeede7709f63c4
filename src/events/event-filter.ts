import type { EventFilter, EventRead } from '../read/lease-events.ts';

/** Whether an event passes a filter: the same answer that the query by which events are read gives. */
export function passes(event: EventRead, filter: EventFilter): boolean {
  const { nodeIds, kinds, personId, session, project } = filter;
  return (
    (nodeIds == null || nodeIds.includes(event.nodeId)) &&
    (kinds == null || kinds.includes(event.kind)) &&
    (personId == null || event.holder === personId || event.actorPerson === personId) &&
    (session == null || event.session === session) &&
    (project == null || event.project === project)
  );
}
