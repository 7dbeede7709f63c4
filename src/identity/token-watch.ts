import type { Logger } from 'pino';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Identity } from './authenticate.ts';

/**
 * Ends what a token keeps open when the token ends: by its expiry, by revocation, or because its person is shut out. All
 * open tokens are looked at each second by one statement, and at once after a revocation on this replica.
 */
export interface TokenWatch {
  start(): void;
  stop(): Promise<void>;
  /** @returns how many were ended */
  runOnce(): Promise<number>;
  /** Calls `end` once when the token ends. @returns how to stop watching */
  add(identity: Identity, end: () => void): () => void;
  readonly watched: number;
}

const TICK_MS = 1_000;

const STANDING = `
SELECT t.tenant_id, t.token_id
FROM unnest($1::text[], $2::text[]) AS w (tenant_id, token_id)
JOIN api_token t ON t.tenant_id = w.tenant_id AND t.token_id = w.token_id AND t.revoked_at IS NULL
  AND (t.expires_at IS NULL OR t.expires_at > holdfast_now())
JOIN person p ON p.tenant_id = t.tenant_id AND p.person_id = t.person_id AND p.disabled_at IS NULL`;

export function createTokenWatch({
  reads,
  log,
}: {
  readonly reads: PrismaClient;
  readonly log: Pick<Logger, 'warn'>;
}): TokenWatch {
  const watched = new Map<string, { readonly identity: Identity; readonly ends: Set<() => void> }>();
  let timer: NodeJS.Timeout | undefined;
  let pass: Promise<unknown> = Promise.resolve();
  let running = false;
  const keyOf = ({ tenantId, tokenId }: Identity) => `${tenantId} ${tokenId}`;

  async function runOnce(): Promise<number> {
    const asked = [...watched.values()].map(({ identity }) => identity);
    if (asked.length === 0) return 0;
    const rows = await reads.$queryRawUnsafe<{ tenant_id: string; token_id: string }[]>(
      STANDING,
      asked.map(({ tenantId }) => tenantId),
      asked.map(({ tokenId }) => tokenId),
    );
    const standing = new Set(rows.map((row) => `${row.tenant_id} ${row.token_id}`));
    let ended = 0;
    for (const identity of asked) {
      const open = standing.has(keyOf(identity)) ? undefined : watched.get(keyOf(identity));
      if (open === undefined) continue;
      watched.delete(keyOf(identity));
      for (const end of open.ends) end();
      ended += open.ends.size;
    }
    return ended;
  }

  function next(): void {
    if (!running) return;
    timer = setTimeout(() => {
      pass = runOnce()
        .catch((err: unknown) => log.warn({ err }, 'open tokens could not be looked at; it is tried again'))
        .then(next);
    }, TICK_MS);
  }

  return {
    runOnce,
    add(identity, end) {
      const key = keyOf(identity);
      const open = watched.get(key) ?? { identity, ends: new Set<() => void>() };
      watched.set(key, open);
      open.ends.add(end);
      return () => {
        open.ends.delete(end);
        if (open.ends.size === 0 && watched.get(key) === open) watched.delete(key);
      };
    },
    get watched() {
      return [...watched.values()].reduce((sum, { ends }) => sum + ends.size, 0);
    },
    start() {
      running = true;
      next();
    },
    async stop() {
      running = false;
      clearTimeout(timer);
      await pass;
    },
  };
}
