import type {
  AddEdge,
  Break,
  Caller,
  Claim,
  Expire,
  Extend,
  PutNode,
  Release,
  RemoveEdge,
  Renew,
  Reserve,
  SetStatus,
} from '../../src/lease/command.ts';

/** Commands as a caller writes them who sends nothing beside what the verb needs. */

export const claim = (nodeId: string, caller: Caller, more: Partial<Claim> = {}): Claim => ({
  verb: 'claim',
  nodeId,
  caller,
  session: null,
  dispatch: null,
  force: false,
  ...more,
});

export const renew = (nodeId: string, caller: Caller, more: Partial<Renew> = {}): Renew => ({
  verb: 'renew',
  nodeId,
  caller,
  session: null,
  fence: null,
  ...more,
});

export const extend = (nodeId: string, caller: Caller, ms: number, more: Partial<Extend> = {}): Extend => ({
  verb: 'extend',
  nodeId,
  caller,
  ms,
  session: null,
  fence: null,
  ...more,
});

export const reserve = (nodeId: string, caller: Caller, more: Partial<Reserve> = {}): Reserve => ({
  verb: 'reserve',
  nodeId,
  caller,
  session: null,
  fence: null,
  ...more,
});

export const release = (nodeId: string, caller: Caller, fence: bigint | null = null): Release => ({
  verb: 'release',
  nodeId,
  caller,
  fence,
});

export const setStatus = (nodeId: string, caller: Caller, status: string): SetStatus => ({
  verb: 'set-status',
  nodeId,
  caller,
  status,
});

export const putNode = (nodeId: string, caller: Caller, more: Partial<PutNode> = {}): PutNode => ({
  verb: 'put-node',
  nodeId,
  caller,
  fields: { type: 'task' },
  edges: [],
  ifExists: 'fail',
  ...more,
});

export const addEdge = (nodeId: string, caller: Caller, type: string, to: string): AddEdge => ({
  verb: 'add-edge',
  nodeId,
  caller,
  edge: { from: nodeId, type, to },
});

export const removeEdge = (nodeId: string, caller: Caller, type: string, to: string): RemoveEdge => ({
  verb: 'remove-edge',
  nodeId,
  caller,
  edge: { from: nodeId, type, to },
});

export const breakLease = (nodeId: string, caller: Caller, reason: string | null = null): Break => ({
  verb: 'break',
  nodeId,
  caller,
  reason,
});

export const expire = (nodeId: string, fence: bigint): Expire => ({ verb: 'expire', nodeId, fence });

/** `count` ids in sorted order: n0001, n0002 and so on. */
export function nodeIds(count: number, prefix = 'n'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index + 1).padStart(5, '0')}`);
}
