import type { Command } from '../lease/command.ts';
import type { Hold, Lease } from '../lease/lease.ts';
import { TERMINAL_STATUSES, WORK_TYPES } from '../lease/node-status.ts';
import type { Statement, Transaction } from './statement.ts';

/**
 * The first statement of a batch: makes the lease rows of new nodes, locks the lease rows that commands may change,
 * and reads the clock after the last of them.
 *
 * SKIP LOCKED: no transaction ever waits for a lease row. Rows that can only lead to a refusal are left out, so that a
 * refusal takes no lock and writes nothing: a row another person or another launch holds in force, one with another fence than the
 * heartbeat names, a free one whose node can't be granted. The clock in the WHERE only leaves rows out; it decides
 * nothing. What comes back is fresh, whatever the statement's snapshot was: READ COMMITTED reads a row again when it
 * changed before the lock was had.
 *
 * The rows are locked one ask after the other, in id order, each by its key: LATERAL leaves the planner no other way,
 * whatever it believes about the size of the table.
 */
export const LOCK: Statement = {
  name: 'holdfast_lock',
  sql: `
WITH made AS (
  INSERT INTO lease (tenant_id, node_id)
  SELECT $1, id FROM unnest($6::text[]) AS id
  ON CONFLICT DO NOTHING
  RETURNING node_id
), ask AS (
  SELECT * FROM unnest($2::text[], $3::text[], $4::bigint[], $5::boolean[], $9::text[])
           AS a (node_id, caller, fence, grants, launch)
), locked AS MATERIALIZED (
  SELECT l.*
  FROM ask a CROSS JOIN LATERAL (
    SELECT *
    FROM lease l
    WHERE l.tenant_id = $1 AND l.node_id = a.node_id
      AND (a.caller IS NULL OR l.holder IS NULL OR l.holder = a.caller OR l.expires_at <= holdfast_now())
      AND (a.fence IS NULL OR a.fence = l.fence)
      AND (a.launch IS NULL OR l.dispatch IS NULL OR l.dispatch = a.launch OR l.expires_at <= holdfast_now())
      AND (NOT a.grants OR l.holder = a.caller OR (
        SELECT n.type = ANY ($7::text[]) AND (n.status IS NULL OR n.status <> ALL ($8::text[]))
        FROM work_node n
        WHERE n.tenant_id = $1 AND n.node_id = a.node_id
        LIMIT 1))
    FOR NO KEY UPDATE SKIP LOCKED
  ) l
), rows AS (
  SELECT json_agg(json_build_array(node_id, fence::text, holder, agent, session, dispatch, holdfast_ms(claimed_at),
           holdfast_ms(expires_at), holdfast_ms(sweep_at), reserved)) AS leases
  FROM locked
)
SELECT coalesce(rows.leases, '[]')::text AS leases,
       coalesce((SELECT json_agg(node_id) FROM made), '[]')::text AS made,
       holdfast_ms(holdfast_now()) AS now
FROM rows`,
};

/** A lease row as it comes back: in the order of the select above. */
export type LeaseRow = [
  nodeId: string,
  fence: string,
  holder: string | null,
  agent: string | null,
  session: string | null,
  dispatch: string | null,
  claimedAt: number,
  expiresAt: number,
  sweepAt: number,
  reserved: boolean,
];

export function toLease(row: LeaseRow): Lease {
  const [, fence, holder, agent, session, dispatch, claimedAt, expiresAt, sweepAt, reserved] = row;
  const hold: Hold | null =
    holder === null ? null : { holder, agent, session, dispatch, claimedAt, expiresAt, sweepAt, reserved };
  return { fence: BigInt(fence), hold };
}

export interface Locked {
  /** Database time in ms, read after the last lock. */
  readonly now: number;
  /** The rows that are ours until the transaction ends, by node. */
  readonly leases: ReadonlyMap<string, Lease>;
}

/** Locks what the commands may change. At most one command in a batch is behind each (node, caller, fence). */
export async function lock(tx: Transaction, tenantId: string, commands: readonly Command[]): Promise<Locked> {
  const asks = new Map<string, Ask>();
  for (const command of commands) {
    const ask = askFor(command);
    asks.set(JSON.stringify(ask), ask);
  }
  const sorted = [...asks.values()].sort((a, b) => (a.nodeId < b.nodeId ? -1 : a.nodeId > b.nodeId ? 1 : 0));
  const made = [...new Set(commands.filter((command) => command.verb === 'put-node').map((command) => command.nodeId))];
  const [row] = await tx.query<{ leases: string; made: string; now: bigint }>(
    LOCK,
    tenantId,
    sorted.map((ask) => ask.nodeId),
    sorted.map((ask) => ask.caller),
    sorted.map((ask) => ask.fence),
    sorted.map((ask) => ask.grants),
    made.sort(),
    WORK_TYPES,
    TERMINAL_STATUSES,
    sorted.map((ask) => ask.launch),
  );
  if (row === undefined) throw new Error('the lock statement returned no row');
  const leases = new Map<string, Lease>();
  for (const lease of JSON.parse(row.leases) as LeaseRow[]) leases.set(lease[0], toLease(lease));
  for (const nodeId of JSON.parse(row.made) as string[]) leases.set(nodeId, { fence: 0n, hold: null });
  return { now: Number(row.now), leases };
}

interface Ask {
  readonly nodeId: string;
  /** Null locks whoever holds the node. */
  readonly caller: string | null;
  /** A fence without which the command can only be refused. */
  readonly fence: string | null;
  /** The command may take a free node, so the node must be one that can be taken. */
  readonly grants: boolean;
  /** A nonce that refuses the command while the caller's own lease has another. */
  readonly launch: string | null;
}

function askFor(command: Command): Ask {
  const { nodeId } = command;
  switch (command.verb) {
    case 'claim':
      return {
        nodeId,
        caller: command.caller.person,
        fence: null,
        grants: true,
        launch: command.force ? null : command.dispatch,
      };
    case 'renew':
    case 'extend':
    case 'reserve':
      return {
        nodeId,
        caller: command.caller.person,
        fence: command.fence === null ? null : fenceText(command.fence),
        grants: command.fence === null,
        launch: null,
      };
    // A release with a stale fence still cleans up when the caller holds nothing: the rule decides.
    case 'release':
      return { nodeId, caller: command.caller.person, fence: null, grants: false, launch: null };
    case 'expire':
      return { nodeId, caller: null, fence: fenceText(command.fence), grants: false, launch: null };
    case 'set-status':
    case 'put-node':
    case 'add-edge':
    case 'remove-edge':
    case 'break':
      return { nodeId, caller: null, fence: null, grants: false, launch: null };
  }
}

/** A fence beyond what a row can have matches none. */
function fenceText(fence: bigint): string {
  return fence > 9_223_372_036_854_775_807n ? '-1' : String(fence);
}
