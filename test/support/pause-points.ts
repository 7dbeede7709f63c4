import type { BatchParts, PausePoint } from '../../src/engine/batch.ts';
import type { Command } from '../../src/lease/command.ts';

/** Stops an engine's batches between their steps, so that a test can say what happens there. */
export interface PausePoints {
  /** Hand this to the engine. */
  readonly pause: NonNullable<BatchParts['pause']>;
  /** The next batch that reaches the point, standing still until `go`. */
  next(point: PausePoint, that?: (commands: readonly Command[]) => boolean): Promise<Stop>;
}

export interface Stop {
  readonly commands: readonly Command[];
  go(): void;
}

interface Wanted {
  readonly point: PausePoint;
  readonly that: (commands: readonly Command[]) => boolean;
  readonly reached: (stop: Stop) => void;
}

export function createPausePoints(): PausePoints {
  const wanted = new Set<Wanted>();
  return {
    pause(point, commands) {
      const found = [...wanted].find((each) => each.point === point && each.that(commands));
      if (found === undefined) return Promise.resolve();
      wanted.delete(found);
      return new Promise((resolve) => found.reached({ commands, go: resolve }));
    },
    next(point, that = () => true) {
      return new Promise((reached) => wanted.add({ point, that, reached }));
    },
  };
}

/** Lets one batch pass the point; resolves when it has been there. */
export async function passed(points: PausePoints, point: PausePoint, nodeId: string): Promise<void> {
  const stop = await points.next(point, (commands) => commands.some((command) => command.nodeId === nodeId));
  stop.go();
}
