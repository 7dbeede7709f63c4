/**
 * One bounded queue for one subscriber. Whoever publishes never waits: a subscriber that does not keep up loses its
 * place, not the others theirs. It is then told the last seq it was handed, from which it can resume.
 */
export interface Mailbox<T> {
  /** Adds an item; over the bound the whole queue is dropped and the subscriber is too slow. */
  push(item: T): void;
  /**
   * The next item; waits for it.
   * @returns `idle` after that time without one, `slow` once after an overflow and then what came since, `closed` when it is
   */
  take(idleMs: number): Promise<T | 'idle' | 'slow' | 'closed'>;
  /** Drops what waits, as an overflow does. */
  drop(): void;
  close(): void;
  readonly size: number;
}

const MOST_QUEUED = 1_000;

export function createMailbox<T extends object>(bound: number = MOST_QUEUED): Mailbox<T> {
  let items: T[] = [];
  let state: 'open' | 'slow' | 'closed' = 'open';
  let wake: (() => void) | undefined;

  function next(): T | 'slow' | 'closed' | undefined {
    const item = items.shift();
    if (item !== undefined) return item;
    if (state === 'open') return undefined;
    if (state === 'closed') return 'closed';
    state = 'open';
    return 'slow';
  }

  function drop(): void {
    if (state !== 'open') return;
    items = [];
    state = 'slow';
    wake?.();
  }

  return {
    push(item) {
      if (state !== 'open') return;
      if (items.length >= bound) drop();
      else items.push(item);
      wake?.();
    },
    drop,
    async take(idleMs) {
      const ready = next();
      if (ready !== undefined) return ready;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, idleMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      wake = undefined;
      return next() ?? 'idle';
    },
    close() {
      items = [];
      state = 'closed';
      wake?.();
    },
    get size() {
      return items.length;
    },
  };
}
