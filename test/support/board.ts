import type { Messages } from './live-rig.ts';

/** A board as a dashboard keeps it: its snapshot, then each change on top. */
export interface Board {
  readonly snapshots: readonly Snapshot[];
  /** What it shows now, by node. */
  readonly leases: ReadonlyMap<string, Json>;
  /** How many messages came, also those that were not asked for yet. */
  readonly messages: number;
  /** Reads up to the last part of the snapshot. */
  complete(): Promise<void>;
  /** The next change. */
  next(): Promise<Change>;
  /** Reads changes until this holds. */
  until(holds: () => boolean): Promise<void>;
  stop(): void;
}

// biome-ignore lint/suspicious/noExplicitAny: a message is whatever JSON the server sent; the assertion says what it should be.
type Json = any;

export interface Snapshot {
  readonly seq: string;
  readonly serverTime: string;
  readonly leases: readonly Json[];
  readonly complete: boolean;
}

export interface Change {
  readonly seq: string;
  readonly nodeId: string;
  readonly lease: Json;
}

export const FOLLOW_BOARD = `subscription ($filter: LeaseFilter) {
  leaseBoard(filter: $filter) {
    ... on LeaseBoardSnapshot { seq serverTime leases { ...shown } complete }
    ... on LeaseBoardChange { seq nodeId lease { ...shown } }
  }
}
fragment shown on Lease { nodeId by { personId } agent { agentId } session claimedAt expiresAt reserved fence }`;

export function boardOf(messages: Messages): Board {
  const snapshots: Snapshot[] = [];
  const leases = new Map<string, Json>();
  let last = 0n;
  async function read(): Promise<Json> {
    const { data, errors } = await messages.next();
    if (errors !== undefined) throw new Error(`the board ended: ${JSON.stringify(errors)}`);
    return data.leaseBoard;
  }
  async function next(): Promise<Change> {
    const change: Change = await read();
    if (BigInt(change.seq) < last) throw new Error(`seq ${change.seq} came after ${last}`);
    last = BigInt(change.seq);
    if (change.lease === null) leases.delete(change.nodeId);
    else leases.set(change.nodeId, change.lease);
    return change;
  }
  return {
    snapshots,
    leases,
    get messages() {
      return messages.all.length;
    },
    async complete() {
      for (let part: Snapshot | null = null; part?.complete !== true; ) {
        part = (await read()) as Snapshot;
        snapshots.push(part);
        last = BigInt(part.seq);
        for (const lease of part.leases) leases.set(lease.nodeId, lease);
      }
    },
    next,
    async until(holds) {
      while (!holds()) await next();
    },
    stop: () => messages.stop(),
  };
}
