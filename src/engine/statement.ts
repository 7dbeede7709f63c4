/**
 * The engine's SQL is a small fixed set of texts. Each has a name under which a connection prepares it once; what
 * varies is a parameter: empty arrays instead of left-out parts, counts instead of lists.
 */
export interface Statement {
  readonly name: string;
  readonly sql: string;
}

/** The open transaction of one batch. */
export interface Transaction {
  /** Runs a statement with its parameters in order. Arrays are cast in the text; instants are epoch ms. */
  query<Row>(statement: Statement, ...parameters: readonly unknown[]): Promise<readonly Row[]>;
}
