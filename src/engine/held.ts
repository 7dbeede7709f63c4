import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Caller, Command } from '../lease/command.ts';
import type { Outcome } from '../lease/outcome.ts';
import type { Engine } from './engine.ts';

/**
 * The heartbeat and the drain of all that a caller holds. The ids are read first, each with its fence; then every lease
 * is renewed or released only if it is still that one. So nothing that lapsed or was taken meanwhile is ever taken back,
 * and no lease is locked in an order of its own.
 */
export interface HeldFilter {
  /** Only leases bound to exactly this session. */
  readonly session: string | null;
  /** Only leases of nodes in this project. */
  readonly project: string | null;
}

export interface HeldAnswers {
  /** One outcome for each lease that was in force and passed the filter, by node id. */
  readonly answers: readonly { readonly nodeId: string; readonly outcome: Outcome }[];
  /** Leases left out, each counted once: by project, else by session, else as a reservation. */
  readonly skipped: { readonly project: number; readonly session: number; readonly reserved: number };
}

interface HeldRow {
  node_id: string;
  fence: string;
  session: string | null;
  project: string | null;
  reserved: boolean;
}

const HELD_SQL = `
SELECT l.node_id, l.fence::text AS fence, l.session, n.project, l.reserved
FROM lease l JOIN work_node n USING (tenant_id, node_id)
WHERE l.tenant_id = $1 AND l.holder = $2 AND l.expires_at > holdfast_now()
ORDER BY l.node_id`;

/** Renews every ordinary lease the caller holds. Never reclaims; a lease that is gone answers `lease_lost`. */
export function renewHeld(
  engine: Engine,
  reads: PrismaClient,
  tenantId: string,
  caller: Caller,
  filter: HeldFilter,
): Promise<HeldAnswers> {
  return eachHeld(engine, reads, tenantId, caller, filter, 'skip reservations', (nodeId, fence) => ({
    verb: 'renew',
    nodeId,
    caller,
    session: null,
    fence,
  }));
}

/** Releases every lease and reservation the caller holds. */
export function releaseHeld(
  engine: Engine,
  reads: PrismaClient,
  tenantId: string,
  caller: Caller,
  filter: HeldFilter,
): Promise<HeldAnswers> {
  return eachHeld(engine, reads, tenantId, caller, filter, 'take reservations', (nodeId, fence) => ({
    verb: 'release',
    nodeId,
    caller,
    fence,
    drain: { session: filter.session },
  }));
}

async function eachHeld(
  engine: Engine,
  reads: PrismaClient,
  tenantId: string,
  caller: Caller,
  filter: HeldFilter,
  reservations: 'skip reservations' | 'take reservations',
  command: (nodeId: string, fence: bigint) => Command,
): Promise<HeldAnswers> {
  const rows = await reads.$queryRawUnsafe<HeldRow[]>(HELD_SQL, tenantId, caller.person);
  const skipped = { project: 0, session: 0, reserved: 0 };
  const chosen = rows.filter((row) => {
    if (filter.project !== null && row.project !== filter.project) skipped.project += 1;
    else if (filter.session !== null && row.session !== filter.session) skipped.session += 1;
    else if (row.reserved && reservations === 'skip reservations') skipped.reserved += 1;
    else return true;
    return false;
  });
  const outcomes = await engine.execute(
    tenantId,
    chosen.map((row) => command(row.node_id, BigInt(row.fence))),
  );
  return {
    answers: chosen.map((row, index) => ({ nodeId: row.node_id, outcome: outcomes[index] as Outcome })),
    skipped,
  };
}
