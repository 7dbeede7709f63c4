/**
 * Who is near the limit of leases in force, so that the count is made only where it can matter. A person is counted
 * when nothing is known of them, when the last count is old, or when what they may have taken since could bring them
 * above four fifths of the limit.
 *
 * Exact within a batch and from one batch to the next. Soft across batches in flight and across replicas, which may
 * pass the limit by a batch each. A limit that was lowered is seen at the next count, after 500 grants or five seconds.
 */
export interface HeldCount {
  /**
   * Those people whose leases must be counted in the coming batch.
   * @param takes how many nodes each may take in it
   */
  due(tenantId: string, takes: ReadonlyMap<string, number>): readonly string[];
  /** What a batch counted, with what it granted and ended since. */
  remember(tenantId: string, held: ReadonlyMap<string, number>, limit: number): void;
}

const FRESH_MS = 5_000;
const MOST_PEOPLE = 50_000;
/** What a person may take on the strength of one count, so that another replica's grants are seen in time. */
const MOST_UNCOUNTED = 500;

export function createHeldCount(clock: () => number = () => performance.now()): HeldCount {
  const far = new Map<string, { room: number; readonly at: number }>();
  return {
    due(tenantId, takes) {
      const fresh = clock() - FRESH_MS;
      const people: string[] = [];
      for (const [person, most] of takes) {
        const known = far.get(`${tenantId} ${person}`);
        if (known !== undefined && known.at >= fresh && known.room >= most) known.room -= most;
        else people.push(person);
      }
      return people;
    },
    remember(tenantId, held, limit) {
      for (const [person, count] of held) {
        const key = `${tenantId} ${person}`;
        const room = Math.min(MOST_UNCOUNTED, Math.floor(0.8 * limit) - count);
        if (room > 0) far.set(key, { room, at: clock() });
        else far.delete(key);
      }
      // Forgetting costs one count each, so the whole map may go.
      if (far.size > MOST_PEOPLE) far.clear();
    },
  };
}
