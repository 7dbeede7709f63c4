import pg from 'pg';
import type { TestDatabase } from './database.ts';
import { TENANT } from './rig.ts';

/** A lock on one lease row, held by a transaction of the test's own, as a stuck replica would hold it. */
export interface RowLock {
  letGo(): Promise<void>;
}

export async function lockLeaseRow(database: TestDatabase, nodeId: string): Promise<RowLock> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('BEGIN');
  const { rowCount } = await client.query('SELECT FROM lease WHERE tenant_id = $1 AND node_id = $2 FOR NO KEY UPDATE', [
    TENANT,
    nodeId,
  ]);
  if (rowCount !== 1) throw new Error(`there is no lease row of ${nodeId} to lock`);
  return {
    async letGo() {
      await client.query('ROLLBACK');
      await client.end();
    },
  };
}
