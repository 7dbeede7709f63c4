import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from '../lease/command.ts';
import { type BatchAnswer, BUSY } from './batch.ts';
import { isPlainHeartbeat, type Verdict } from './lanes.ts';
import { LONGEST_RETRYING_MS, MOST_RETRIES, pauseBeforeRetry, remedyFor } from './retry.ts';
import { OutcomeUnknown } from './transaction.ts';
import { databaseOutage, Unavailable } from './unavailable.ts';

/**
 * Turns what became of a batch into a verdict for each command. Never a refusal or a success from a batch that is not
 * known to be committed.
 *
 * - Rolled back for a passing reason: the whole batch again, three times, then 503.
 * - Rolled back for a value the database can't take: halved until the culprit stands alone, so that one caller's fault
 *   costs no other.
 * - Commit unanswered: heartbeats alone run again, since they converge; any other batch answers that its outcome is
 *   unknown and that it is safe to repeat.
 */
export async function settle(
  run: (commands: readonly Command[]) => Promise<readonly BatchAnswer[]>,
  commands: readonly Command[],
): Promise<readonly Verdict[]> {
  const start = performance.now();
  let doubt: OutcomeUnknown | null = null;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return verdictsOf(await run(commands), doubt);
    } catch (error) {
      if (error instanceof OutcomeUnknown) doubt = error;
      const remedy = error instanceof OutcomeUnknown ? remedyForDoubt(commands) : remedyFor(error);
      if (remedy === 'culprit' && commands.length > 1) return halve(run, commands);
      if (remedy === 'culprit' || remedy === 'fault') return everyone(commands, error);
      if (remedy === 'none' || attempt === MOST_RETRIES || performance.now() - start > LONGEST_RETRYING_MS) {
        return everyone(commands, doubt === null ? databaseOutage(error) : outcomeUnknown(doubt));
      }
      await pause(pauseBeforeRetry(attempt));
    }
  }
}

function remedyForDoubt(commands: readonly Command[]): 'again' | 'none' {
  return commands.every(isPlainHeartbeat) ? 'again' : 'none';
}

/**
 * What keeps a node busy after a commit in doubt may be that commit, on its way still. Whoever went on waiting for it
 * might in the end be told that nothing was done, so they are told what is known now.
 */
function verdictsOf(answers: readonly BatchAnswer[], doubt: OutcomeUnknown | null): readonly Verdict[] {
  const busy: Verdict = doubt === null ? 'busy' : { error: outcomeUnknown(doubt) };
  return answers.map((answer) => (answer === BUSY ? busy : { outcome: answer }));
}

async function halve(
  run: (commands: readonly Command[]) => Promise<readonly BatchAnswer[]>,
  commands: readonly Command[],
): Promise<readonly Verdict[]> {
  const middle = commands.length >> 1;
  const first = await settle(run, commands.slice(0, middle));
  // A node that was busy in the first half stays so, or its later commands would overtake its earlier ones.
  const busy = new Set(commands.filter((_, index) => first[index] === 'busy').map((command) => command.nodeId));
  const rest = commands.slice(middle);
  const second = await settle(
    run,
    rest.filter((command) => !busy.has(command.nodeId)),
  );
  const verdicts = second.values();
  return [...first, ...rest.map((command) => (busy.has(command.nodeId) ? 'busy' : (verdicts.next().value as Verdict)))];
}

function everyone(commands: readonly Command[], error: unknown): readonly Verdict[] {
  return commands.map(() => ({ error }));
}

function outcomeUnknown(cause: unknown): Unavailable {
  return new Unavailable(
    'The outcome is unknown: the database did not answer the commit. It is safe to repeat the call.',
    1_000,
    {
      cause,
    },
  );
}
