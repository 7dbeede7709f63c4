import type { PrismaClient } from '../generated/prisma/client.ts';

/** The clock that decides: the database's, in epoch ms. */
export async function readClock(reads: PrismaClient): Promise<number> {
  const [row] = await reads.$queryRawUnsafe<{ now: bigint }[]>('SELECT holdfast_ms(holdfast_now()) AS now');
  if (row === undefined) throw new Error('the database did not tell the time');
  return Number(row.now);
}
