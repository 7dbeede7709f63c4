import type {
  Caller,
  Claim,
  Edge,
  Expire,
  Extend,
  PutNode,
  Release,
  Renew,
  Reserve,
  SetStatus,
} from '../../src/lease/command.ts';
import { assignedEdge } from '../../src/lease/command.ts';
import type { Hold } from '../../src/lease/lease.ts';
import type { Policy } from '../../src/lease/policy.ts';
import { edgeKey, type NodeState, type WorkNode } from '../../src/lease/state.ts';

/** What is given and what is asked. Unless a row says otherwise ana's lease of task-1 runs from 940_000 to 1_000_000. */

export const NODE = 'task-1';

export const ana: Caller = { person: 'ana', agent: null };
export const anasAgent: Caller = { person: 'ana', agent: 'ana-agent' };
export const bo: Caller = { person: 'bo', agent: null };

export const policy: Policy = {
  claimTtlMs: 60_000,
  claimTtlMaxMs: 480_000,
  reserveGraceMs: 2_880_000,
  bulkMax: 100,
  heldMax: 3,
};

export function hold(fields: Partial<Hold> = {}): Hold {
  return {
    holder: 'ana',
    agent: null,
    session: null,
    dispatch: null,
    claimedAt: 940_000,
    expiresAt: 1_000_000,
    sweepAt: 1_000_000,
    reserved: false,
    ...fields,
  };
}

interface Given {
  fence?: bigint;
  hold?: Partial<Hold>;
  node?: Partial<WorkNode> | null;
  /** The edges that exist; the holder's assigned edge unless given. */
  edges?: readonly Edge[];
  held?: number;
}

export function state(given: Given = {}): NodeState {
  const held = given.hold === undefined ? null : hold(given.hold);
  const edges = given.edges ?? (held === null ? [] : [assignedEdge(NODE, held.holder)]);
  return {
    node:
      given.node === null
        ? null
        : { type: 'task', status: 'open', project: 'atlas', revision: 3n, fields: null, ...given.node },
    lease: { fence: given.fence ?? 7n, hold: held },
    edges: new Map(edges.map((edge) => [edgeKey(edge), edge])),
    person: null,
    held: given.held ?? null,
  };
}

export const neverHeld = state({ fence: 0n });
export const released = state();
export const ordinary = state({ hold: {} });
export const withSession = state({ hold: { session: 's1' } });
export const withDispatch = state({ hold: { dispatch: 'launch-1' } });
export const reservation = state({ hold: { reserved: true } });

export function claim(caller: Caller, fields: Partial<Claim> = {}): Claim {
  return { verb: 'claim', nodeId: NODE, caller, session: null, dispatch: null, force: false, ...fields };
}

export function renew(caller: Caller, fields: Partial<Renew> = {}): Renew {
  return { verb: 'renew', nodeId: NODE, caller, session: null, fence: null, ...fields };
}

export function extend(caller: Caller, ms: number, fields: Partial<Extend> = {}): Extend {
  return { verb: 'extend', nodeId: NODE, caller, ms, session: null, fence: null, ...fields };
}

export function reserve(caller: Caller, fields: Partial<Reserve> = {}): Reserve {
  return { verb: 'reserve', nodeId: NODE, caller, session: null, fence: null, ...fields };
}

export function release(caller: Caller, fields: Partial<Release> = {}): Release {
  return { verb: 'release', nodeId: NODE, caller, fence: null, ...fields };
}

export function setStatus(caller: Caller, status: string): SetStatus {
  return { verb: 'set-status', nodeId: NODE, caller, status };
}

export function putNode(fields: Partial<PutNode> = {}): PutNode {
  return {
    verb: 'put-node',
    nodeId: NODE,
    caller: ana,
    fields: { type: 'task' },
    edges: [],
    ifExists: 'fail',
    ...fields,
  };
}

export function expire(fence: bigint): Expire {
  return { verb: 'expire', nodeId: NODE, fence };
}
