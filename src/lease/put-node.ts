import type { NodeFields, PutNode } from './command.ts';
import { type LeaseEvent, nodeEvent } from './event.ts';
import { DEFAULT_STATUS } from './node-status.ts';
import type { Decision, NodePut } from './outcome.ts';
import { sameJson } from './same-json.ts';
import { hasEdge, type NodeState, withEdge } from './state.ts';

/**
 * Put a node: makes it, or changes its fields when asked to. Statuses are stored as given and nothing is claimed. An
 * update adds the edges it names and removes none, so that importing again never undoes what a claim wrote.
 */
export function putNode(state: NodeState, command: PutNode): Decision<NodePut> {
  if (state.node === null) return create(state, command);
  if (command.ifExists === 'fail') {
    return answer(state, 'failed', [], `${command.nodeId} exists already. Send if_exists skip or update to go on.`);
  }
  return command.ifExists === 'skip' ? answer(state, 'skipped', []) : update(state, command);
}

function create(state: NodeState, command: PutNode): Decision<NodePut> {
  const fields = { ...EMPTY, ...defined(command.fields) };
  const { type, status, project } = fields;
  const made: NodeState = {
    ...state,
    node: { type, status, project, revision: 1n, fields },
    person: personOf(command, fields),
  };
  const place = { nodeId: command.nodeId, project, actor: command.caller };
  return answer(command.edges.reduce(withEdge, made), 'created', [nodeEvent('NODE_CREATED', place, status)]);
}

function update(state: NodeState, command: PutNode): Decision<NodePut> {
  const { node } = state;
  if (node?.fields == null) throw new Error(`node ${command.nodeId} was put without its fields being read`);
  const fields = { ...node.fields, ...defined(command.fields) };
  const linked = command.edges.reduce(withEdge, state);
  const added = [...linked.edges.values()].filter((edge) => !hasEdge(state, edge));
  if (added.length === 0 && sameJson(fields, node.fields)) return answer(state, 'skipped', []);

  const { type, status, project } = fields;
  const place = { nodeId: command.nodeId, project, actor: command.caller };
  const next: NodeState = {
    ...linked,
    node: { type, status, project, revision: node.revision + 1n, fields },
    // A person who is there stays as they are, also when the same batch made them.
    person: state.person ?? personOf(command, fields),
  };
  const events: LeaseEvent[] = added.map(() => nodeEvent('EDGE_ADDED', place, null));
  if ((status ?? DEFAULT_STATUS) !== (node.status ?? DEFAULT_STATUS)) {
    events.unshift(nodeEvent('STATUS_CHANGED', place, status));
  }
  return answer(next, 'updated', events);
}

const EMPTY = {
  title: null,
  status: null,
  project: null,
  priority: null,
  summary: null,
  body: null,
  date: null,
  neededBy: null,
  extra: {},
};

/** Without the fields that say nothing: on update those stay as they are. */
function defined(fields: NodeFields): NodeFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as unknown as NodeFields;
}

function personOf(command: PutNode, fields: Required<NodeFields>) {
  if (fields.type !== 'person') return null;
  const { email } = fields.extra;
  return {
    personId: command.nodeId,
    name: fields.title ?? command.nodeId,
    email: typeof email === 'string' ? email : null,
  };
}

function answer(
  next: NodeState,
  status: NodePut['status'],
  events: readonly LeaseEvent[],
  error: string | null = null,
): Decision<NodePut> {
  return { outcome: { kind: 'node-put', status, error }, next, events };
}
