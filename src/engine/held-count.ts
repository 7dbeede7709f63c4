/**
 * Who is near the limit of leases in force, so that the count is made only where it can matter. A person is counted
 * when nothing is known of them, when the last count is old, or when it was above four fifths of the limit.
 *
 * Exact within a batch. Soft across batches in flight and across replicas, which may pass the limit by a batch each.
 */
export interface HeldCount {
  /** Those of these people whose leases must be counted in the coming batch. */
  due(tenantId: string, people: Iterable<string>): readonly string[];
  /** What a batch counted, with what it granted and ended since. */
  remember(tenantId: string, held: ReadonlyMap<string, number>, limit: number): void;
}

const FRESH_MS = 5_000;
const MOST_PEOPLE = 50_000;

export function createHeldCount(clock: () => number = () => performance.now()): HeldCount {
  const far = new Map<string, number>();
  return {
    due(tenantId, people) {
      const fresh = clock() - FRESH_MS;
      return [...people].filter((person) => (far.get(`${tenantId} ${person}`) ?? Number.NEGATIVE_INFINITY) < fresh);
    },
    remember(tenantId, held, limit) {
      for (const [person, count] of held) {
        const key = `${tenantId} ${person}`;
        if (count > 0.8 * limit) far.delete(key);
        else far.set(key, clock());
      }
      // Forgetting costs one count each, so the whole map may go.
      if (far.size > MOST_PEOPLE) far.clear();
    },
  };
}
