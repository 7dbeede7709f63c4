import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits until something has come about outside this process, which tells of it by no event: looks again and again, and
 * gives up after a limit, saying what it waited for.
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  { limitMs = 30_000, say = () => '' }: { limitMs?: number; say?: () => string } = {},
): Promise<void> {
  const start = performance.now();
  while (!(await holds())) {
    if (performance.now() - start > limitMs) throw new Error(`not within ${limitMs} ms: ${what}\n${say()}`);
    await pause(20);
  }
}
