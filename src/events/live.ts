import type { Logger } from 'pino';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { type Boards, createBoards } from './boards.ts';
import { createExpiring, type Expiring } from './expiring.ts';
import { createRelay, type Relay } from './relay.ts';

/** What subscriptions stand on in this process. */
export interface Live {
  readonly reads: PrismaClient;
  readonly relay: Relay;
  readonly expiring: Expiring;
  readonly boards: Boards;
}

/** @param beforeDelivery done between reading events and delivering them */
export function createLive(
  reads: PrismaClient,
  log: Pick<Logger, 'warn'>,
  beforeDelivery?: () => Promise<unknown>,
): Live {
  const relay = createRelay({ reads, log, beforeDelivery });
  return { reads, relay, expiring: createExpiring({ reads, log }), boards: createBoards({ reads, relay, log }) };
}
