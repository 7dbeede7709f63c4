import type { Doors } from '../support/doors.ts';
import { TENANT } from '../support/rig.ts';

/** The states a node can be found in, each arranged on a node of its own. Ana's lease ends a minute from now. */
export const STATES: Readonly<Record<string, State>> = {
  'never held': {},
  'released before': { fence: 3 },
  'held by ana': { holder: 'ana' },
  'held by ana, in session s1': { holder: 'ana', session: 's1' },
  'held by ana, by launch d1': { holder: 'ana', dispatch: 'd1' },
  'held by ana through her agent': { holder: 'ana', agent: 'ana-one' },
  'reserved for ana': { holder: 'ana', reserved: true, session: 's1' },
  'lapsed under ana, this instant': { holder: 'ana', leftMs: 0 },
  'lapsed under ana, reserved': { holder: 'ana', leftMs: -1, reserved: true },
  'held by ana, and done': { holder: 'ana', status: 'done' },
  'done and free': { status: 'done' },
  'without a status': { status: null },
  'no work': { type: 'note' },
};

export interface State {
  readonly fence?: number;
  readonly holder?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly dispatch?: string;
  readonly reserved?: boolean;
  readonly leftMs?: number;
  readonly status?: string | null;
  readonly type?: string;
}

const LEASE = `UPDATE lease SET fence = $3, holder = $4, agent = $5, session = $6, dispatch = $7, reserved = $8,
  claimed_at = holdfast_at($9), expires_at = holdfast_at($10), sweep_at = holdfast_at($10)
  WHERE tenant_id = $1 AND node_id = $2`;

/** A new node in that state. */
export async function arrange(doors: Doors, state: State): Promise<string> {
  const { fence = 7, holder, agent = null, session = null, dispatch = null, reserved = false, leftMs = 60_000 } = state;
  const { status, type } = state;
  const id = await doors.node({ ...(status !== undefined && { status }), ...(type !== undefined && { type }) });
  if (holder === undefined) {
    if (state.fence !== undefined)
      await doors.database.sql('UPDATE lease SET fence = $3 WHERE tenant_id = $1 AND node_id = $2', TENANT, id, fence);
    return id;
  }
  const { now } = doors;
  const hold = [holder, agent, session, dispatch, reserved, now - 1_000, now + leftMs];
  await doors.database.sql(LEASE, TENANT, id, fence, ...hold);
  await doors.database.sql(`INSERT INTO edge VALUES ($1, $2, 'assigned', $3)`, TENANT, id, holder);
  return id;
}

/** All that the database knows of a node, without its name and its place in the history. */
export async function rowsOf(doors: Doors, id: string): Promise<string> {
  const [row] = await doors.database.sql<{ all: string }>(
    `SELECT json_build_object(
       'lease', (SELECT to_json(l) FROM lease l WHERE l.tenant_id = $1 AND l.node_id = $2),
       'node', (SELECT to_json(n) FROM work_node n WHERE n.tenant_id = $1 AND n.node_id = $2),
       'edges', (SELECT json_agg(e ORDER BY e.type, e.to_id) FROM edge e WHERE e.tenant_id = $1 AND e.from_id = $2),
       'events', (SELECT json_agg(to_jsonb(v) - 'seq' - 'batch' ORDER BY v.seq) FROM lease_event v
                  WHERE v.tenant_id = $1 AND v.node_id = $2))::text AS all`,
    TENANT,
    id,
  );
  return (row?.all ?? '').replaceAll(id, '<id>');
}
