import { describe, expect, test } from 'vitest';
import type { Caller, Command } from '../../src/lease/command.ts';
import { decide } from '../../src/lease/decide.ts';
import type { Decision, Outcome } from '../../src/lease/outcome.ts';
import type { NodeState, WorkNode } from '../../src/lease/state.ts';
import * as given from './states.ts';
import { ana, anasAgent, bo, policy } from './states.ts';

/**
 * The contract's verb table, each cell for every state, caller and moment that falls into it. A cell reads: answer,
 * `#` fence, what is left of the lease, flags, edge, and after the bar the events. Own leases end one ms after `now`.
 */
const COLUMNS = [
  'never held',
  'released',
  'lapsed, own',
  'lapsed, of another',
  'own',
  'own, from another session',
  'own reservation',
  "another's",
] as const;
type Column = (typeof COLUMNS)[number];

const TABLE = {
  claim: [
    'claimed #1 +60000 added | CLAIMED #1',
    'claimed #8 +60000 added | CLAIMED #8',
    'claimed #8 +60000 skipped | EXPIRED #7, CLAIMED #8',
    'claimed #8 +60000 added | EXPIRED #7, CLAIMED #8',
    'claimed #7 +60000 skipped |',
    'claimed #7 +60000 skipped | REBOUND #7',
    'claimed #7 +60000 skipped | RESUMED #7',
    'conflict by ana |',
  ],
  renew: [
    'renewed #1 +60000 reclaimed | RECLAIMED #1',
    'renewed #8 +60000 reclaimed | RECLAIMED #8',
    'renewed #8 +60000 reclaimed | EXPIRED #7, RECLAIMED #8',
    'renewed #8 +60000 reclaimed | EXPIRED #7, RECLAIMED #8',
    'renewed #7 +60000 |',
    'renewed #7 +60000 | REBOUND #7',
    'renewed #7 +60000 | RESUMED #7',
    'lease_lost by ana |',
  ],
  'extend by 100_000': [
    'extended #1 +160000 reclaimed | RECLAIMED #1, EXTENDED #1',
    'extended #8 +160000 reclaimed | RECLAIMED #8, EXTENDED #8',
    'extended #8 +160000 reclaimed | EXPIRED #7, RECLAIMED #8, EXTENDED #8',
    'extended #8 +160000 reclaimed | EXPIRED #7, RECLAIMED #8, EXTENDED #8',
    'extended #7 +100001 | EXTENDED #7',
    'extended #7 +100001 | REBOUND #7, EXTENDED #7',
    'extended #7 +160000 | RESUMED #7, EXTENDED #7',
    'lease_lost by ana |',
  ],
  reserve: [
    'reserved #1 +2880000 parked reclaimed | RECLAIMED #1, RESERVED #1',
    'reserved #8 +2880000 parked reclaimed | RECLAIMED #8, RESERVED #8',
    'reserved #8 +2880000 parked reclaimed | EXPIRED #7, RECLAIMED #8, RESERVED #8',
    'reserved #8 +2880000 parked reclaimed | EXPIRED #7, RECLAIMED #8, RESERVED #8',
    'reserved #7 +2880000 parked | RESERVED #7',
    'reserved #7 +2880000 parked | RESERVED #7',
    'reserved #7 +2880000 parked | RESERVED #7',
    'lease_lost by ana |',
  ],
  release: [
    'released skipped |',
    'released skipped |',
    'released removed | EXPIRED #7',
    'released skipped | EXPIRED #7',
    'released removed | RELEASED #7',
    'released removed | RELEASED #7',
    'released removed | RELEASED #7',
    'conflict by ana |',
  ],
  'set-status active': [
    'active: claimed #1 +60000 added | STATUS_CHANGED, CLAIMED #1',
    'active: claimed #8 +60000 added | STATUS_CHANGED, CLAIMED #8',
    'active: claimed #8 +60000 skipped | STATUS_CHANGED, EXPIRED #7, CLAIMED #8',
    'active: claimed #8 +60000 added | STATUS_CHANGED, EXPIRED #7, CLAIMED #8',
    'active: claimed #7 +60000 skipped | STATUS_CHANGED',
    'active: claimed #7 +60000 skipped | STATUS_CHANGED',
    'active: claimed #7 +60000 skipped | STATUS_CHANGED, RESUMED #7',
    'active: conflict by ana | STATUS_CHANGED',
  ],
  'set-status done': COLUMNS.map(() => 'done | STATUS_CHANGED'),
  'expire #7': [
    'gone |',
    'gone |',
    'lapsed | EXPIRED #7',
    'lapsed | EXPIRED #7',
    'alive |',
    'alive |',
    'alive |',
    'alive |',
  ],
  'put-node': COLUMNS.map(() => 'failed |'),
} satisfies Record<string, string[]>;
type Name = keyof typeof TABLE;

const FREE: readonly Column[] = ['never held', 'released', 'lapsed, own', 'lapsed, of another'];
const GRANTING: readonly Name[] = ['claim', 'renew', 'extend by 100_000', 'reserve'];

/** What a node of another kind changes in the table; undefined leaves the cell. */
const KINDS: Record<string, { node: Partial<WorkNode>; cell: (name: Name, column: Column) => string | undefined }> = {
  'an open node': { node: {}, cell: () => undefined },
  'a node without status': { node: { status: null }, cell: () => undefined },
  'a terminal node': {
    node: { status: 'abandoned' },
    cell: (name, column) => (GRANTING.includes(name) && FREE.includes(column) ? 'not_ready |' : undefined),
  },
  'a node of a type without lease': {
    node: { type: 'note' },
    cell: (name) => {
      if (GRANTING.includes(name) || name === 'release') return 'invalid_node |';
      return name === 'set-status active' ? 'active | STATUS_CHANGED' : undefined;
    },
  },
};

const STATES: Record<string, NodeState> = {
  'never held': given.neverHeld,
  'free after release': given.released,
  'under an ordinary lease': given.ordinary,
  'under a lease with session': given.withSession,
  'under a lease with dispatch': given.withDispatch,
  'under a reservation': given.reservation,
};
const MOMENTS = { 'before its end': 999_999, 'at its end': 1_000_000, 'after its end': 1_000_001 };
const CALLERS: Record<string, { caller: Caller; session: string | null }> = {
  'its holder': { caller: ana, session: null },
  'another session of its holder': { caller: ana, session: 's2' },
  'an agent of its holder': { caller: anasAgent, session: null },
  'another person': { caller: bo, session: null },
};

function command(name: Name, caller: Caller, session: string | null): Command {
  switch (name) {
    case 'claim':
      return given.claim(caller, { session });
    case 'renew':
      return given.renew(caller, { session });
    case 'extend by 100_000':
      return given.extend(caller, 100_000, { session });
    case 'reserve':
      return given.reserve(caller, { session });
    case 'release':
      return given.release(caller);
    case 'set-status active':
      return given.setStatus(caller, 'active');
    case 'set-status done':
      return given.setStatus(caller, 'done');
    case 'expire #7':
      return given.expire(7n);
    case 'put-node':
      return given.putNode({ caller });
  }
}

function columnOf({ lease: { fence, hold } }: NodeState, now: number, caller: Caller, session: string | null): Column {
  if (hold === null) return fence === 0n ? 'never held' : 'released';
  const own = hold.holder === caller.person;
  if (now >= 1_000_000) return own ? 'lapsed, own' : 'lapsed, of another';
  if (!own) return "another's";
  if (hold.reserved) return 'own reservation';
  return session === null ? 'own' : 'own, from another session';
}

function answer(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'held': {
      const { status, lease, reclaimed, edge } = outcome;
      const flags = [lease.reserved ? 'parked' : '', reclaimed ? 'reclaimed' : '', edge ?? ''].filter(Boolean);
      return [status, `#${lease.fence}`, `+${lease.expiresInMs}`, ...flags].join(' ');
    }
    case 'released':
      return `released ${outcome.edge}`;
    case 'status-set':
      return outcome.claim === null ? outcome.status : `${outcome.status}: ${answer(outcome.claim)}`;
    case 'node-put':
    case 'edge-set':
      return outcome.status;
    case 'broken':
      return outcome.lease === null ? 'nothing to break' : `broken #${outcome.lease.fence}`;
    case 'swept':
      return outcome.found;
    case 'refused':
      return outcome.holder === null ? outcome.code : `${outcome.code} by ${outcome.holder.holder}`;
  }
}

function cell({ outcome, events }: Decision): string {
  const history = events.map(({ kind, fence }) => (fence === null ? kind : `${kind} #${fence}`));
  return `${answer(outcome)} | ${history.join(', ')}`.trimEnd();
}

for (const [kind, { node, cell: changed }] of Object.entries(KINDS)) {
  describe.each(Object.keys(TABLE) as Name[])(`%s on ${kind}`, (name) => {
    const rows = Object.entries(STATES).flatMap(([held, state]) =>
      Object.entries(MOMENTS).flatMap(([moment, now]) =>
        Object.entries(CALLERS).map(([by, { caller, session }]) => ({ held, state, moment, now, by, caller, session })),
      ),
    );

    test.each(rows)('$held, $moment, by $by', ({ state, now, caller, session }) => {
      const before: NodeState = { ...state, node: { ...(state.node as WorkNode), ...node } };
      const column = columnOf(before, now, caller, session);
      const decision = decide(before, command(name, caller, session), now, policy);
      expect(cell(decision)).toBe(changed(name, column) ?? TABLE[name][COLUMNS.indexOf(column)]);
      if (decision.outcome.kind === 'refused') {
        expect(decision.next).toBe(before);
      }
      if (decision.outcome.kind === 'held') {
        expect(decision.next.lease.hold).toMatchObject({ holder: caller.person, agent: caller.agent });
        expect(decision.outcome.lease).toMatchObject({ holder: caller.person, agent: caller.agent });
        expect(decision.outcome.lease.expiresAt).toBe(now + decision.outcome.lease.expiresInMs);
      }
    });
  });
}

describe('a node that is unknown', () => {
  const unknown = given.state({ node: null, fence: 0n });

  test.each(Object.keys(TABLE) as Name[])('%s', (name) => {
    const decision = decide(unknown, command(name, ana, null), 1_000_000, policy);
    const expected = { 'expire #7': 'gone |', 'put-node': 'created | NODE_CREATED' };
    expect(cell(decision)).toBe(expected[name as keyof typeof expected] ?? 'not_found |');
  });
});
