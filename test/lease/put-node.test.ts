import { describe, expect, test } from 'vitest';
import { assignedEdge, type Edge, type NodeFields } from '../../src/lease/command.ts';
import { decide } from '../../src/lease/decide.ts';
import { kinds, toldOfNode } from './answers.ts';
import { ana, NODE, policy, putNode, state } from './states.ts';

const blocks: Edge = { from: NODE, type: 'blocks', to: 'task-2' };
const assigned = assignedEdge(NODE, 'ana');

const fields: Required<NodeFields> = {
  type: 'task',
  title: 'Retry emails',
  status: 'open',
  project: 'atlas',
  priority: null,
  summary: null,
  body: null,
  date: null,
  neededBy: null,
  extra: { team: { name: 'mail', size: 2 } },
};
const existing = state({ hold: {}, node: { fields } });
const put = (change: Partial<NodeFields>, edges: readonly Edge[] = []) =>
  decide(existing, putNode({ fields: { type: 'task', ...change }, edges, ifExists: 'update' }), 970_000, policy);

describe('a node that is not there', () => {
  const unknown = state({ node: null, fence: 0n });

  test.each(['fail', 'skip', 'update'] as const)('is made from type alone, with if_exists %s', (ifExists) => {
    const { outcome, next, events } = decide(unknown, putNode({ ifExists }), 970_000, policy);
    expect(outcome).toEqual({ kind: 'node-put', status: 'created', error: null });
    expect(next.node).toEqual({
      type: 'task',
      status: null,
      project: null,
      revision: 1n,
      fields: { ...fields, title: null, status: null, project: null, extra: {} },
    });
    expect(next.lease).toBe(unknown.lease);
    expect(events).toEqual([toldOfNode('NODE_CREATED', { project: null })]);
  });

  test.each(['active', 'done', 'no such word'])('stores the status %j as given and claims nothing', (status) => {
    const { next, events } = decide(unknown, putNode({ fields: { ...fields, status } }), 970_000, policy);
    expect(next).toMatchObject({ node: { status, fields: { ...fields, status } }, lease: { hold: null } });
    expect(events).toEqual([toldOfNode('NODE_CREATED', { status })]);
  });

  test('is made with its edges, which NODE_CREATED stands for', () => {
    const decision = decide(unknown, putNode({ edges: [blocks, assigned, blocks] }), 970_000, policy);
    expect([...decision.next.edges.values()]).toEqual([blocks, assigned]);
    expect(kinds(decision)).toEqual(['NODE_CREATED']);
  });

  test.each([
    { made: { title: 'Ana', extra: { email: 'ana@example.org' } }, person: { name: 'Ana', email: 'ana@example.org' } },
    { made: {}, person: { name: NODE, email: null } },
    { made: { extra: { email: 5 } }, person: { name: NODE, email: null } },
  ])('of type person makes the person $person', ({ made, person }) => {
    const { next } = decide(unknown, putNode({ fields: { type: 'person', ...made } }), 970_000, policy);
    expect(next.person).toEqual({ personId: NODE, ...person });
  });

  test('of another type makes no person', () => {
    expect(decide(unknown, putNode(), 970_000, policy).next.person).toBeNull();
  });
});

describe('a node that is there', () => {
  test.each([
    {
      ifExists: 'fail' as const,
      status: 'failed',
      error: `${NODE} exists already. Send if_exists skip or update to go on.`,
    },
    { ifExists: 'skip' as const, status: 'skipped', error: null },
  ])('is left with if_exists $ifExists', ({ ifExists, status, error }) => {
    const command = putNode({ fields: { type: 'task', title: 'New' }, edges: [blocks], ifExists });
    const decision = decide(existing, command, 970_000, policy);
    expect(decision.outcome).toEqual({ kind: 'node-put', status, error });
    expect(decision.next).toBe(existing);
    expect(decision.events).toEqual([]);
  });

  test('changes the fields given and leaves the others, its lease and its edges', () => {
    const { outcome, next, events } = put({ title: 'Retry all', priority: 'high', summary: undefined as never });
    expect(outcome).toEqual({ kind: 'node-put', status: 'updated', error: null });
    expect(next.node).toMatchObject({ revision: 4n, fields: { ...fields, title: 'Retry all', priority: 'high' } });
    expect(next.lease).toBe(existing.lease);
    expect(next.edges).toBe(existing.edges);
    expect(events).toEqual([]);
  });

  test('loses a field that is given as null', () => {
    expect(put({ title: null, project: null }).next.node).toMatchObject({ project: null, fields: { title: null } });
  });

  test('gains the edges named, each once, and loses none', () => {
    const { outcome, next, events } = put({}, [blocks, blocks, assigned]);
    expect(outcome).toMatchObject({ status: 'updated' });
    expect(next.node?.revision).toBe(4n);
    expect([...next.edges.values()]).toEqual([assigned, blocks]);
    expect(events).toEqual([toldOfNode('EDGE_ADDED')]);
  });

  test('is skipped when nothing would change, in whatever order an object has its keys', () => {
    const decision = put({ title: 'Retry emails', extra: { team: { size: 2, name: 'mail' } } }, [assigned]);
    expect(decision.outcome).toMatchObject({ status: 'skipped' });
    expect(decision.next).toBe(existing);
    expect(decision.events).toEqual([]);
  });

  test.each([{ extra: { team: { name: 'mail' } } }, { extra: { team: ['mail', 2] } }, { extra: {} }])(
    'is updated by another %j',
    (change) => {
      expect(put(change).next.node?.fields?.extra).toEqual(change.extra);
    },
  );

  test.each([
    {
      guarantee: 'stores any status and tells it, claiming nothing',
      given: existing,
      status: 'no such word',
      told: true,
    },
    { guarantee: 'stores an active status without renewing', given: existing, status: 'active', told: true },
    { guarantee: 'tells no change from open to no status', given: existing, status: null, told: false },
  ])('$guarantee', ({ given, status, told }) => {
    const { next, events } = put({ status });
    expect(next.node?.status).toBe(status);
    expect(next.lease).toBe(given.lease);
    expect(events).toEqual(told ? [toldOfNode('STATUS_CHANGED', { status })] : []);
  });

  test('tells a new status before its new edges, in its new project', () => {
    const { events } = put({ status: 'done', project: 'borealis' }, [blocks]);
    expect(events).toEqual([
      toldOfNode('STATUS_CHANGED', { status: 'done', project: 'borealis' }),
      toldOfNode('EDGE_ADDED', { project: 'borealis' }),
    ]);
  });

  test('that becomes a person makes the person', () => {
    expect(put({ type: 'person' }).next.person).toEqual({ personId: NODE, name: 'Retry emails', email: null });
  });

  test('keeps a person made before it in one batch', () => {
    const made = decide(state({ node: null }), putNode({ fields: { type: 'person' } }), 970_000, policy).next;
    const command = putNode({ fields: { type: 'task' }, ifExists: 'update' });
    expect(decide(made, command, 970_000, policy).next.person).toEqual({ personId: NODE, name: NODE, email: null });
  });

  test('must have been read whole: to update it blindly is a fault', () => {
    const unread = putNode({ caller: ana, ifExists: 'update' });
    expect(() => decide(state(), unread, 970_000, policy)).toThrow('without its fields being read');
  });
});
