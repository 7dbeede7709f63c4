import pg from 'pg';

/** An open transaction of the test's own, which holds whatever locks its statement takes, as a stuck session does. */
export interface OpenTransaction {
  /** Resolves when the database has ended it. */
  readonly ended: Promise<void>;
  rollback(): Promise<void>;
}

/** @param idleLimitMs when the database ends it by itself, as it does with the server's own; never unless given */
export async function openTransaction(url: string, statement: string, idleLimitMs = 0): Promise<OpenTransaction> {
  const client = new pg.Client({ connectionString: url, idle_in_transaction_session_timeout: idleLimitMs });
  const ended = new Promise<void>((resolve) => client.on('error', () => {}).on('end', resolve));
  await client.connect();
  await client.query('BEGIN');
  await client.query(statement);
  return { ended, rollback: () => client.end() };
}
