import type { LeaseJson } from '../../src/rest/wire.ts';
import type { TestDatabase } from './database.ts';
import type { SentCall } from './lease-traffic.ts';

interface Grant {
  readonly node_id: string;
  readonly fence: string;
  readonly holder: string;
  readonly begun: number;
  readonly ended: string | null;
}

/**
 * Holds the history against the answers, beside what the rows say: every grant that was answered has begun there, every
 * release that was answered stands there, and every refusal names a lease that was in force at some moment of its call.
 */
export async function untrueAnswers(
  calls: readonly SentCall[],
  database: Pick<TestDatabase, 'sql'>,
): Promise<string[]> {
  const rows = await database.sql<Grant>(
    `SELECT node_id, fence::text, holder, holdfast_ms(min(at))::float8 AS begun,
            max(kind) FILTER (WHERE kind IN ('RELEASED', 'EXPIRED', 'SUPERSEDED', 'BROKEN')) AS ended
     FROM lease_event WHERE fence IS NOT NULL GROUP BY node_id, fence, holder`,
  );
  const grants = new Map(rows.map((grant) => [keyOf(grant), grant]));
  const untrue: string[] = [];
  for (const call of calls) {
    if (call.answer === null) continue;
    const say = (lease: object, fault: string) =>
      untrue.push(`${call.verb} of ${call.person}: ${fault} ${JSON.stringify(lease)}`);
    for (const lease of call.answer.leases) {
      if (grants.get(keyOf(lease))?.holder !== lease.by) say(lease, 'was answered and never begun');
    }
    for (const lease of call.answer.holders ?? []) {
      if (grants.get(keyOf(lease))?.holder !== lease.by) say(lease, 'was in the way and never begun');
      else if (wasOver(lease, call, calls)) say(lease, 'was in the way and over before');
    }
  }
  return untrue;
}

/** Whether a lease was over before a call was sent, as far as the answers before tell. */
function wasOver({ node_id, fence }: LeaseJson, { sentAt }: SentCall, calls: readonly SentCall[]): boolean {
  return calls.some(({ verb, nodeIds, fence: named, answer }) => {
    if (answer === null || !answer.done || answer.at >= sentAt) return false;
    if (answer.leases.some((other) => other.node_id === node_id && Number(other.fence) > Number(fence))) return true;
    return verb === 'release' && named === fence && nodeIds?.[0] === node_id;
  });
}

const keyOf = ({ node_id, fence }: { node_id: string; fence: string }) => `${node_id} ${fence}`;
