import type { Logger } from 'pino';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { createRelay, type Relay } from './relay.ts';

/** What subscriptions stand on in this process. */
export interface Live {
  readonly reads: PrismaClient;
  readonly relay: Relay;
}

export function createLive(reads: PrismaClient, log: Pick<Logger, 'warn'>): Live {
  return { reads, relay: createRelay({ reads, log }) };
}
