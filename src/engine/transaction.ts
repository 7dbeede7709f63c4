import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Statement, Transaction } from './statement.ts';

/**
 * One Prisma interactive transaction, and what is known about it when it fails.
 *
 * READ COMMITTED and every time limit come with the connection (`db/connect.ts`). Prisma's own `timeout` cancels
 * nothing on the server, so its limits are set wider than the connection's and never speak first.
 */
const PRISMA_LIMITS = { maxWait: 10_000, timeout: 15_000 };

/** A statement that failed, so that the transaction is rolled back. The cause is the driver's error. */
export class StatementFailed extends Error {
  override readonly name = 'StatementFailed';
}

/** The transaction could not begin: nothing was done. */
export class NotBegun extends Error {
  override readonly name = 'NotBegun';
}

/** The commit was asked for and its answer is missing: what was done may stand or not. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/**
 * Runs `work` in a transaction and commits.
 * @throws StatementFailed or whatever `work` threw: rolled back; NotBegun: nothing done; OutcomeUnknown: only then may
 *   something have been done
 */
export async function inTransaction<T>(client: PrismaClient, work: (tx: Transaction) => Promise<T>): Promise<T> {
  let reached: 'nothing' | 'work' | 'commit' = 'nothing';
  let thrown: unknown;
  try {
    return await client.$transaction(async (prisma) => {
      reached = 'work';
      try {
        const result = await work({
          query: <Row>(statement: Statement, ...parameters: readonly unknown[]) =>
            prisma.$queryRawUnsafe<Row[]>(statement.sql, ...parameters).catch((cause: unknown) => {
              throw new StatementFailed(`${statement.name} failed`, { cause });
            }),
        });
        reached = 'commit';
        return result;
      } catch (error) {
        thrown = error;
        throw error;
      }
    }, PRISMA_LIMITS);
  } catch (error) {
    if (thrown !== undefined) throw thrown;
    if (reached === 'nothing') throw new NotBegun('the transaction could not begin', { cause: error });
    throw new OutcomeUnknown('the answer to the commit is missing', { cause: error });
  }
}
