/** Shows how far a long command has come: a bar that redraws itself on a terminal, a line a step anywhere else. */
export interface Progress {
  /** @param done of the total, in the unit of the total */
  step(done: number, words: string): void;
  /** Makes room for a line of output; the next step draws the bar again. */
  clear(): void;
}

interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

const WIDTH = 30;
/** Carriage return, then erase to the end of the line. */
const ERASE = '\r\u001b[K';

export function createProgress(out: NodeJS.WritableStream & Terminal, total: number, unit: string): Progress {
  if (out.isTTY !== true) {
    return { step: (done, words) => void out.write(`${done} of ${total} ${unit}: ${words}\n`), clear() {} };
  }
  let drawn = false;
  return {
    step(done, words) {
      const part = total === 0 ? 1 : Math.min(done / total, 1);
      const full = Math.round(part * WIDTH);
      const bar = `[${'#'.repeat(full)}${'-'.repeat(WIDTH - full)}] ${Math.floor(part * 100)}%  ${words}`;
      out.write(`${ERASE}${bar.slice(0, (out.columns ?? 80) - 1)}`);
      drawn = true;
    },
    clear() {
      if (drawn) out.write(ERASE);
      drawn = false;
    },
  };
}
