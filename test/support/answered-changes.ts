import type { LeaseJson } from '../../src/rest/wire.ts';
import { mayEnd, mayGrant, mayResume } from './lease-calls.ts';
import type { SentCall } from './lease-traffic.ts';

/** A row of the lease table, or what is known of it from before the traffic. */
export interface LeaseRow {
  readonly node_id: string;
  readonly fence: string;
  readonly holder: string | null;
  /** Epoch ms. */
  readonly expires: string | null;
}

export interface Findings {
  /** What was answered and is not so, in words. Empty when all is well. */
  readonly broken: readonly string[];
  /** Leases and ends that no unanswered or later call could excuse, so that the check had to find them. */
  readonly certain: { readonly leases: number; readonly ends: number };
}

interface Grant {
  readonly call: SentCall;
  readonly lease: LeaseJson;
}

/**
 * Holds the lease table against the answers: what a caller was told is so still, unless a later call changed it or a
 * call without answer may have. A call may have come later than an answer unless its own answer was there before the
 * other call was sent.
 */
export function checkAnswers(
  calls: readonly SentCall[],
  before: readonly LeaseRow[],
  after: readonly LeaseRow[],
): Findings {
  const broken: string[] = [];
  const certain = { leases: 0, ends: 0 };
  const known = new Map(before.map((row) => [row.node_id, row]));
  const grants = new Map<string, Grant[]>();
  for (const call of calls) {
    for (const lease of call.answer?.leases ?? []) {
      if (!grants.get(lease.node_id)?.push({ call, lease })) grants.set(lease.node_id, [{ call, lease }]);
    }
  }
  for (const row of after) {
    const earlier = known.get(row.node_id) ?? { ...row, fence: '0', holder: null, expires: null };
    const told = grants.get(row.node_id) ?? [];
    const touching = calls.filter(({ nodeIds }) => nodeIds === null || nodeIds.includes(row.node_id));
    const say = (fault: string) => broken.push(`${row.node_id} ${JSON.stringify(row)}: ${fault}`);

    for (const { call, lease } of told) if (lease.by !== call.person) say(`${call.person} was told of ${lease.by}'s`);
    checkFences(row, earlier, told, touching, say);
    const current = told.filter(({ lease }) => lease.fence === row.fence);
    certain.leases += checkHolder(row, earlier, current, touching, say);
    if (row.holder !== null) certain.ends += checkEnd(row, current, touching, say);
  }
  return { broken, certain };
}

/** Fences never fall, and one that nobody was told of belongs to a call without answer. */
function checkFences(
  row: LeaseRow,
  earlier: LeaseRow,
  told: readonly Grant[],
  touching: readonly SentCall[],
  say: Say,
) {
  const answered = new Map(told.map(({ lease }) => [Number(lease.fence), lease.by]));
  for (const { lease } of told) {
    if (answered.get(Number(lease.fence)) !== lease.by) say(`two people were told of fence ${lease.fence}`);
  }
  const highest = Math.max(Number(earlier.fence), ...answered.keys());
  if (Number(row.fence) < highest) say(`fence ${highest} was answered`);
  const inDoubt = touching.filter((call) => call.answer === null && mayGrant(call));
  const untold = Array.from({ length: Number(row.fence) - Number(earlier.fence) }, (_, index) => {
    return Number(earlier.fence) + 1 + index;
  }).filter((fence) => !answered.has(fence));
  if (untold.length > inDoubt.length) say(`fences ${untold} were told to nobody, ${inDoubt.length} calls in doubt`);
  if (untold.includes(Number(row.fence)) && row.holder !== null && !inDoubt.some((c) => c.person === row.holder)) {
    say('its holder has no call in doubt');
  }
}

/** @returns how many leases had to be there */
function checkHolder(
  row: LeaseRow,
  earlier: LeaseRow,
  current: readonly Grant[],
  touching: readonly SentCall[],
  say: Say,
): number {
  const holder = current[0]?.lease.by ?? (earlier.fence === row.fence ? earlier.holder : null);
  if (holder === null) return 0;
  const seen = Math.max(0, ...current.map(({ call }) => call.sentAt));
  const released = touching.some((call) => {
    const names = call.fence === null || call.fence === row.fence;
    return mayEnd(call) && call.person === holder && names && mayFollow(call, seen);
  });
  if (row.holder !== holder && (row.holder !== null || !released)) say(`${holder} holds it by what was answered`);
  return released ? 0 : 1;
}

/** @returns how many ends had to be there */
function checkEnd(row: LeaseRow, current: readonly Grant[], touching: readonly SentCall[], say: Say): number {
  let certain = 0;
  for (const { call, lease } of current) {
    const later = touching.filter((other) => {
      return other !== call && other.person === row.holder && mayFollow(other, call.sentAt);
    });
    const mayShorten =
      (lease.reserved === true || later.some(({ verb }) => verb === 'reserve')) && later.some(mayResume);
    if (mayShorten) continue;
    certain += 1;
    if (Number(row.expires) < lease.expires) say(`its end was answered as ${lease.expires} to ${call.verb}`);
  }
  return certain;
}

/** Whether a call may have taken effect after another was sent. One that was refused or put off took none. */
function mayFollow({ answer }: SentCall, sentAt: number): boolean {
  return answer === null || (answer.done && answer.at >= sentAt);
}

type Say = (fault: string) => void;
