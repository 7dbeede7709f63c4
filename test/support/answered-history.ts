import type { LeaseJson } from '../../src/rest/wire.ts';
import { checkAnswers, type LeaseRow } from './answered-changes.ts';
import type { TestDatabase } from './database.ts';
import { brokenInvariants } from './invariants.ts';
import { mayEnd, mayGrant } from './lease-calls.ts';
import type { SentCall, Traffic } from './lease-traffic.ts';

interface Event {
  readonly kind: 'CLAIMED' | 'RECLAIMED' | 'RELEASED';
  readonly node_id: string;
  readonly fence: string;
  readonly holder: string;
  /** Epoch ms. */
  readonly at: number;
}

export interface Examined {
  /** What was answered and is not so, or is so and was not answered; empty lists when all is well. */
  readonly faults: Readonly<Record<'rows' | 'history' | 'invariants' | 'wrong', readonly string[]>>;
  /** How much there was to find something wrong with. */
  readonly counts: Readonly<Record<'answered' | 'refused' | 'putOff' | 'leases' | 'ends', number>>;
}

/** @param nodes those that the traffic was about, which nobody else has touched, before it or beside it */
export async function examine(
  traffic: Pick<Traffic, 'calls' | 'wrong' | 'putOff'>,
  database: Pick<TestDatabase, 'sql'>,
  nodes: readonly string[],
): Promise<Examined> {
  const calls = traffic.calls();
  const rows = await database.sql<LeaseRow>(
    `SELECT node_id, fence::text, holder, holdfast_ms(expires_at)::text AS expires FROM lease WHERE node_id = ANY ($1)`,
    nodes,
  );
  const { broken, certain } = checkAnswers(calls, [], rows);
  const invariants = Object.entries(await brokenInvariants(database));
  return {
    faults: {
      rows: broken,
      history: await untrueAnswers(calls, database, nodes),
      invariants: invariants.map((rule) => JSON.stringify(rule)),
      wrong: traffic.wrong,
    },
    counts: {
      answered: calls.filter(({ answer }) => answer !== null).length,
      refused: calls.filter(({ answer }) => answer?.holders?.length).length,
      putOff: traffic.putOff,
      ...certain,
    },
  };
}

export const NO_FAULTS: Examined['faults'] = { rows: [], history: [], invariants: [], wrong: [] };

/**
 * Holds the history against the answers, beside what the rows say: every lease that was answered has begun there, every
 * refusal names a lease that was in force at some moment of its call, and every beginning and release is the doing of a
 * call that was told so or was told nothing.
 */
async function untrueAnswers(
  calls: readonly SentCall[],
  database: Pick<TestDatabase, 'sql'>,
  nodes: readonly string[],
): Promise<string[]> {
  const events = await database.sql<Event>(
    `SELECT kind, node_id, fence::text, holder, holdfast_ms(at)::float8 AS at FROM lease_event
     WHERE kind IN ('CLAIMED', 'RECLAIMED', 'RELEASED') AND node_id = ANY ($1) ORDER BY seq`,
    nodes,
  );
  const holders = new Map(events.map((event) => [keyOf(event), event.holder]));
  const untrue: string[] = [];
  for (const call of calls) {
    const say = (lease: object, fault: string) =>
      untrue.push(`${call.verb} of ${call.person}: ${JSON.stringify(lease)} ${fault}`);
    for (const lease of call.answer?.leases ?? []) {
      if (!nodes.includes(lease.node_id)) continue;
      if (holders.get(keyOf(lease)) !== lease.by) say(lease, 'was answered and never begun');
    }
    for (const lease of call.answer?.holders ?? []) {
      if (holders.get(keyOf(lease)) !== lease.by) say(lease, 'was in the way and never begun');
      else if (wasOver(lease, call, calls)) say(lease, 'was in the way and over before');
    }
  }
  for (const event of events) {
    if (!calls.some((call) => mayHaveMade(call, event))) untrue.push(`${JSON.stringify(event)} is no call's doing`);
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

/** The clocks of the calls and of the database are of one machine, read by two programs and cut to whole ms. */
const SLACK_MS = 5;

function mayHaveMade(call: SentCall, { kind, node_id, fence, holder, at }: Event): boolean {
  const { person, nodeIds, sentAt, answer } = call;
  if (person !== holder || !(nodeIds?.includes(node_id) ?? true)) return false;
  if (performance.timeOrigin + sentAt > at + SLACK_MS) return false;
  if (!(kind === 'RELEASED' ? mayEnd(call) : mayGrant(call))) return false;
  if (answer === null) return true;
  if (!answer.done || performance.timeOrigin + answer.at < at - SLACK_MS) return false;
  return kind === 'RELEASED' || answer.leases.some((lease) => lease.node_id === node_id && lease.fence === fence);
}

const keyOf = ({ node_id, fence }: { node_id: string; fence: string }) => `${node_id} ${fence}`;
