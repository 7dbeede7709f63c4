import type { LeaseJson } from '../../src/rest/wire.ts';
import type { Dice } from './random.ts';
import type { RestReply } from './rest-client.ts';

/** One REST call that may change leases. */
export interface LeaseCall {
  readonly verb: Verb;
  readonly person: string;
  /** What it names; null: every lease of the person. */
  readonly nodeIds: readonly string[] | null;
  readonly fence: string | null;
  readonly path: string;
  readonly body: object;
}

export type Verb =
  | 'claim'
  | 'renew'
  | 'extend'
  | 'reserve'
  | 'release'
  | 'status'
  | 'bulk claim'
  | 'bulk renew'
  | 'renew held'
  | 'release held';

/** How often each is called. To release all that one holds is rare, since it excuses every lease that is gone. */
const WEIGHTS: readonly (readonly [Verb, number])[] = [
  ['claim', 28],
  ['renew', 20],
  ['extend', 12],
  ['reserve', 7],
  ['release', 15],
  ['status', 5],
  ['bulk claim', 6],
  ['bulk renew', 5],
  ['renew held', 1.7],
  ['release held', 0.3],
];
const VERBS = WEIGHTS.flatMap(([verb, weight]) => new Array<Verb>(Math.round(weight * 10)).fill(verb));

/** A call of one of the people, mostly on nodes that are theirs by custom, so that many succeed. */
export function randomCall(
  dice: Dice,
  people: readonly string[],
  nodes: readonly string[],
  fenceOf: (nodeId: string) => string | undefined,
): LeaseCall {
  const verb = dice.pick(VERBS);
  const place = dice.below(people.length);
  const person = people[place] as string;
  const pick = () => {
    const own = nodes.filter((_, index) => index % people.length === place);
    return dice.pick(dice.chance(0.7) ? own : nodes);
  };
  const one = (path: string, body: object = {}): LeaseCall => {
    const nodeId = pick();
    const fence = verb === 'release' && dice.chance(0.5) ? (fenceOf(nodeId) ?? null) : null;
    const full = { ...body, ...(fence !== null && { fence }) };
    return { verb, person, nodeIds: [nodeId], fence, path: `/v1/nodes/${nodeId}/${path}`, body: full };
  };
  const many = (path: string): LeaseCall => {
    const ids = [...new Set(Array.from({ length: 2 + dice.below(8) }, pick))];
    return { verb, person, nodeIds: ids, fence: null, path: `/v1/queue/${path}`, body: { ids } };
  };
  const held = (path: string): LeaseCall => ({
    ...{ verb, person, nodeIds: null, fence: null, path: `/v1/queue/${path}`, body: {} },
  });
  switch (verb) {
    case 'extend':
      return one('extend', { ms: dice.pick([60_000, 3_600_000]) });
    case 'status':
      return one('status', { status: dice.pick(['open', 'active', 'in-progress']) });
    case 'bulk claim':
      return many('claim');
    case 'bulk renew':
      return many('renew');
    case 'renew held':
      return held('renew');
    case 'release held':
      return held('release');
    default:
      return one(verb);
  }
}

/** The leases of the caller's that an answer says are in force. */
export function leasesIn({ status, body }: RestReply): readonly LeaseJson[] {
  if (status !== 200) return [];
  return [body.lease, ...(body.leases ?? [])].filter((lease) => lease?.fence !== undefined);
}

/** The leases of others that an answer says are in the way. */
export function holdersIn({ body }: RestReply): readonly LeaseJson[] {
  const failed: { holder?: LeaseJson }[] = body?.failed ?? [];
  return [body?.holder, ...failed.map(({ holder }) => holder)].filter((lease) => lease !== undefined);
}

/** A verb that may begin a lease. The one without ids renews only what is held. */
export function mayGrant({ verb }: LeaseCall): boolean {
  return verb !== 'release' && verb !== 'release held' && verb !== 'renew held';
}

/** A verb that makes an ordinary lease of a reservation, the one way in which an end moves back. */
export function mayResume({ verb }: LeaseCall): boolean {
  return mayGrant({ verb } as LeaseCall) && verb !== 'reserve';
}

export function mayEnd({ verb }: LeaseCall): boolean {
  return verb === 'release' || verb === 'release held';
}
