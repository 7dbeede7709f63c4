/**
 * What waits for one board: the nodes that it has to look at again. A node waits once, however often it changes, at the
 * place of its latest change. The room is bounded all the same: one that does not keep up is ended, and whoever publishes
 * never waits.
 */
export interface NodeQueue {
  /** Adds a node for an event. Over the bound the whole queue is dropped, and its board is too slow. */
  add(nodeId: string, seq: bigint): void;
  /** Adds a node for a reason that comes again, a heartbeat: left out where there is no room for it. */
  addIfRoom(nodeId: string): void;
  /** The nodes that wait, the longest waiting first, each with the seq of its latest event; waits for one. */
  take(most: number): Promise<readonly Waiting[] | 'slow' | 'closed'>;
  /** Drops what waits, as an overflow does. */
  drop(): void;
  close(): void;
  readonly closed: AbortSignal;
  readonly size: number;
}

export interface Waiting {
  readonly nodeId: string;
  /** Null where no event was told, only a heartbeat. */
  readonly seq: bigint | null;
}

/** @param room how many nodes may wait, asked each time */
export function createNodeQueue(room: () => number): NodeQueue {
  const nodes = new Map<string, bigint | null>();
  const closing = new AbortController();
  let slow = false;
  let wake = () => {};

  function drop(): void {
    slow = true;
    nodes.clear();
    wake();
  }

  return {
    add(nodeId, seq) {
      if (slow) return;
      nodes.delete(nodeId);
      if (nodes.size >= room()) return drop();
      nodes.set(nodeId, seq);
      wake();
    },
    addIfRoom(nodeId) {
      if (slow || nodes.has(nodeId) || nodes.size >= room()) return;
      nodes.set(nodeId, null);
      wake();
    },
    async take(most) {
      while (nodes.size === 0 && !slow && !closing.signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (closing.signal.aborted) return 'closed';
      if (slow) return 'slow';
      const taken: Waiting[] = [];
      for (const [nodeId, seq] of nodes) {
        if (taken.length === most) break;
        taken.push({ nodeId, seq });
        nodes.delete(nodeId);
      }
      return taken;
    },
    drop,
    close() {
      closing.abort();
      nodes.clear();
      wake();
    },
    closed: closing.signal,
    get size() {
      return nodes.size;
    },
  };
}
