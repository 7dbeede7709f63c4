import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from '../lease/command.ts';
import { type BatchAnswer, BUSY } from './batch.ts';
import { isPlainHeartbeat, type Verdict } from './lanes.ts';
import { MOST_RETRIES, pauseBeforeRetry, remedyFor } from './retry.ts';
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
  for (let attempt = 0; ; attempt += 1) {
    try {
      const answers = await run(commands);
      return answers.map((answer) => (answer === BUSY ? 'busy' : { outcome: answer }));
    } catch (error) {
      const unknown = error instanceof OutcomeUnknown;
      if (unknown && !commands.every(isPlainHeartbeat)) return everyone(commands, outcomeUnknown(error));
      const remedy = unknown ? 'again' : remedyFor(error);
      if (remedy === 'culprit' && commands.length > 1) return halve(run, commands);
      if (remedy !== 'again') return everyone(commands, error);
      if (attempt === MOST_RETRIES) return everyone(commands, unknown ? outcomeUnknown(error) : databaseOutage(error));
      await pause(pauseBeforeRetry(attempt));
    }
  }
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
