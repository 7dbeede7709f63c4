import { expect, test } from 'vitest';
import type { Edge } from '../../src/lease/command.ts';
import { decide } from '../../src/lease/decide.ts';
import { bo, NODE, ordinary, policy, released, reservation, state } from './states.ts';

const blocks: Edge = { from: NODE, type: 'blocks', to: 'task-2' };
const assignedTo = (person: string): Edge => ({ from: NODE, type: 'assigned', to: person });
const add = (edge: Edge) => ({ verb: 'add-edge', nodeId: NODE, caller: bo, edge }) as const;
const remove = (edge: Edge) => ({ verb: 'remove-edge', nodeId: NODE, caller: bo, edge }) as const;

test('an edge is written once, and the revision and the history say so', () => {
  const { outcome, next, events } = decide(released, add(blocks), 970_000, policy);
  expect(outcome).toEqual({ kind: 'edge-set', status: 'updated', revision: 4n });
  expect([...next.edges.values()]).toEqual([blocks]);
  expect(events).toMatchObject([{ kind: 'EDGE_ADDED', nodeId: NODE, holder: null, fence: null, actor: bo }]);
  expect(decide(next, add(blocks), 970_000, policy)).toMatchObject({
    outcome: { status: 'skipped', revision: 4n },
    next,
    events: [],
  });
});

test('an edge is taken away once', () => {
  const { outcome, next, events } = decide(state({ edges: [blocks] }), remove(blocks), 970_000, policy);
  expect(outcome).toEqual({ kind: 'edge-set', status: 'updated', revision: 4n });
  expect(next.edges.size).toBe(0);
  expect(events).toMatchObject([{ kind: 'EDGE_REMOVED', nodeId: NODE }]);
  expect(decide(next, remove(blocks), 970_000, policy)).toMatchObject({ outcome: { status: 'skipped' }, events: [] });
});

test.each([
  { guarantee: 'of a lease in force', given: ordinary, at: 999_999, to: 'ana', code: 'conflict' },
  { guarantee: 'of a reservation', given: reservation, at: 999_999, to: 'ana', code: 'conflict' },
  { guarantee: 'of a lapsed lease', given: ordinary, at: 1_000_000, to: 'ana', code: undefined },
  { guarantee: 'of someone who does not hold it', given: ordinary, at: 970_000, to: 'bo', code: undefined },
])('the assigned edge $guarantee at $at answers $code', ({ given, at, to, code }) => {
  const decision = decide(given, remove(assignedTo(to)), at, policy);
  expect(decision.outcome).toMatchObject(
    code === undefined ? { kind: 'edge-set' } : { code, holder: { holder: 'ana' } },
  );
  if (code !== undefined) expect(decision).toMatchObject({ next: given, events: [] });
});

test('nodes of every type have edges, and unknown ones none', () => {
  expect(decide(state({ node: { type: 'note' } }), add(blocks), 0, policy).outcome).toMatchObject({
    status: 'updated',
  });
  expect(decide(state({ node: null }), add(blocks), 0, policy).outcome).toMatchObject({ code: 'not_found' });
  expect(decide(state({ node: null }), remove(blocks), 0, policy).outcome).toMatchObject({ code: 'not_found' });
});
