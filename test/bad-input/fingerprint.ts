import type { Doors } from '../support/doors.ts';

/** All tables that a call could change, in one string. */
export async function fingerprint({ database }: Doors): Promise<string> {
  const [row] = await database.sql<{ all: string }>(`
    SELECT md5(concat_ws('|',
      (SELECT string_agg(l::text, ',' ORDER BY l.tenant_id, l.node_id) FROM lease l),
      (SELECT string_agg(e::text, ',' ORDER BY e::text) FROM edge e),
      (SELECT string_agg(n::text, ',' ORDER BY n.tenant_id, n.node_id) FROM work_node n),
      (SELECT string_agg(p::text, ',' ORDER BY p::text) FROM person p),
      (SELECT string_agg(a::text, ',' ORDER BY a::text) FROM agent a),
      (SELECT string_agg(y::text, ',' ORDER BY y::text) FROM policy y),
      (SELECT string_agg(t.tenant_id || t.seq, ',' ORDER BY t.tenant_id) FROM tenant t),
      (SELECT count(*)::text FROM api_token))) AS all`);
  return row?.all ?? '';
}
