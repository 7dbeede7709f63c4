import type { Caller, Command, Edge, PutNode } from '../../src/lease/command.ts';
import * as make from './commands.ts';
import type { Dice } from './random.ts';
import { ana, anasAgent, anasOtherAgent, bo } from './rig.ts';

/** Any command on one of five nodes, or of those given, by one of four callers, two of them agents of one owner. */
export function randomCommand(dice: Dice, nodes: readonly string[] = NODES): Command {
  const nodeId = dice.pick(nodes);
  const caller = dice.pick(CALLERS);
  const session = dice.chance(0.3) ? dice.pick(['s1', 's2']) : null;
  // Now and then one that no row can have.
  const fence = dice.chance(0.3) ? dice.pick([BigInt(dice.below(12)), BigInt(dice.below(12)), 2n ** 64n]) : null;
  switch (dice.pick(VERBS)) {
    case 'claim': {
      const dispatch = dice.chance(0.4) ? dice.pick(['d1', 'd2']) : null;
      return make.claim(nodeId, caller, { session, dispatch, force: dice.chance(0.3) });
    }
    case 'renew':
      return make.renew(nodeId, caller, { session, fence });
    case 'extend':
      return make.extend(nodeId, caller, dice.pick([0.5, 1, 60_000, 3_600_000, 2 ** 53]), { session, fence });
    case 'reserve':
      return make.reserve(nodeId, caller, { session, fence });
    case 'release':
      return make.release(nodeId, caller, fence);
    case 'set-status':
      return make.setStatus(nodeId, caller, dice.pick(['open', 'active', 'done', 'resolved', 'answered', 'no-such']));
    case 'put-node':
      return randomPut(dice, nodeId, caller);
    case 'add-edge':
    case 'remove-edge': {
      const [type, to] = dice.pick(HAND_EDGES);
      return dice.chance(0.5) ? make.addEdge(nodeId, caller, type, to) : make.removeEdge(nodeId, caller, type, to);
    }
    case 'break':
      return make.breakLease(nodeId, caller, dice.pick([null, 'lost']));
    case 'expire':
      return make.expire(nodeId, BigInt(dice.below(12)));
  }
}

const NODES = ['n1', 'n2', 'n3', 'n4', 'n5'] as const;
const CALLERS = [ana, anasAgent, anasOtherAgent, bo] as const;
const VERBS = [
  ...(['claim', 'claim', 'claim', 'renew', 'renew', 'extend', 'reserve', 'release', 'release'] as const),
  ...(['set-status', 'put-node', 'expire', 'add-edge', 'remove-edge', 'break'] as const),
];

const HAND_EDGES = [
  ['assigned', 'ana'],
  ['assigned', 'bo'],
  ['blocks', 'n2'],
  ['stewards', 'n1'],
] as const;

function randomPut(dice: Dice, nodeId: string, caller: Caller): PutNode {
  const edges: readonly Edge[] = [
    { from: nodeId, type: 'blocks', to: dice.pick(NODES) },
    { from: nodeId, type: 'assigned', to: dice.pick(['ana', 'bo']) },
    // An edge that two nodes may name.
    { from: 'n5', type: 'stewards', to: 'n1' },
  ];
  return make.putNode(nodeId, caller, {
    fields: {
      type: dice.pick(['task', 'task', 'issue', 'note', 'person']),
      ...(dice.chance(0.5) && { status: dice.pick(['open', 'done', null]) }),
      ...(dice.chance(0.3) && { project: dice.pick(['p1', 'p2', null]) }),
      ...(dice.chance(0.3) && {
        title: dice.pick(['Hé', '"', '𝒳']),
        extra: { email: 'x@y', deep: { b: [1.5], a: 0 } },
      }),
    },
    edges: edges.filter(() => dice.chance(0.4)),
    ifExists: dice.pick(['fail', 'skip', 'update', 'update']),
  });
}

/**
 * What may have happened before a batch, as SQL on the tenants `$1`: leases that end before, at or after now, a lost
 * edge, other settings.
 */
export function randomPast(dice: Dice): string[] {
  const past: string[] = [];
  for (const nodeId of NODES) {
    if (dice.chance(0.3)) past.push(endsIn(nodeId, dice.pick([-86_400_000, -60_000, -1, 0, 1, 60_000, 7_200_000])));
  }
  if (dice.chance(0.1)) {
    past.push(`DELETE FROM edge WHERE tenant_id = ANY ($1) AND type = 'assigned' AND from_id = '${dice.pick(NODES)}'`);
  }
  if (dice.chance(0.1)) past.push(policy('', dice.pick([null, 60_000]), dice.pick([null, null, 1, 2, 3])));
  if (dice.chance(0.1)) past.push(policy('p2', dice.pick([null, 1_000, 120_000]), null));
  return past;
}

function endsIn(nodeId: string, ms: number): string {
  const end = `holdfast_now() + interval '${ms} ms'`;
  return `UPDATE lease SET expires_at = ${end}, sweep_at = least(sweep_at, ${end}),
            claimed_at = least(claimed_at, ${end} - interval '1 s')
          WHERE tenant_id = ANY ($1) AND node_id = '${nodeId}' AND holder IS NOT NULL`;
}

function policy(project: string, ttlMs: number | null, heldMax: number | null): string {
  return `INSERT INTO policy (tenant_id, project, claim_ttl_ms, held_max)
          SELECT unnest($1::text[]), '${project}', ${ttlMs}, ${heldMax}
          ON CONFLICT (tenant_id, project) DO UPDATE SET claim_ttl_ms = excluded.claim_ttl_ms, held_max = excluded.held_max`;
}
