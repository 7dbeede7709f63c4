import pg from 'pg';

/** What the engine's connections sent, counted at the driver. */
export interface StatementCount {
  begins: number;
  commits: number;
  others: number;
}

/** Runs `work` and counts what the engine's connections, or those of another name, send meanwhile. */
export async function countStatements(
  work: () => Promise<unknown>,
  connections: 'holdfast-engine' | 'holdfast-reads' = 'holdfast-engine',
): Promise<StatementCount> {
  const count: StatementCount = { begins: 0, commits: 0, others: 0 };
  const { query } = pg.Client.prototype;
  function counting(this: pg.Client, ...parameters: unknown[]): unknown {
    const { application_name: name } = (this as unknown as { connectionParameters: { application_name?: string } })
      .connectionParameters;
    if (name === connections) tally(count, parameters[0]);
    return Reflect.apply(query, this, parameters);
  }
  pg.Client.prototype.query = counting as typeof query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query;
  }
  return count;
}

function tally(count: StatementCount, statement: unknown): void {
  const text = typeof statement === 'string' ? statement : (statement as { text: string }).text;
  if (/^begin/i.test(text)) count.begins += 1;
  else if (/^commit/i.test(text)) count.commits += 1;
  else count.others += 1;
}
