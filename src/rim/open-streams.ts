import type { Logger } from 'pino';

/**
 * Answers that go on for as long as somebody listens: server-sent events, through either door. Each ends by itself, with
 * the caller's connection, with the token that opened it, or with the server, and none leaves anything behind.
 */
export interface OpenStreams {
  /**
   * Passes an answer on; only a stream of events is kept, and none for HEAD, which nobody would read.
   * @param watch is given what ends the stream, and gives what stops watching
   */
  keep(method: string, answer: Response, watch: (end: () => void) => () => void): Response;
  /** Ends all that are open, and all that come, so that their callers turn to another server. */
  stop(): void;
  readonly open: number;
}

export function createOpenStreams(log: Pick<Logger, 'warn'>): OpenStreams {
  const ends = new Set<() => void>();
  let stopped = false;
  return {
    keep(method, answer, watch) {
      if (answer.body === null || !answer.headers.get('Content-Type')?.startsWith('text/event-stream')) return answer;
      const { status, headers } = answer;
      if (method === 'HEAD') {
        answer.body.cancel().catch(() => {});
        return new Response(null, { status, headers });
      }
      const reader = answer.body.getReader();
      let open = true;
      let unwatch = () => {};
      const leave = () => {
        open = false;
        ends.delete(end);
        unwatch();
      };
      let end = leave;
      const body = new ReadableStream<Uint8Array>(
        {
          start(controller) {
            end = () => {
              if (!open) return;
              leave();
              controller.close();
              reader.cancel().catch(() => {});
            };
            if (stopped) return end();
            ends.add(end);
            unwatch = watch(end);
          },
          async pull(controller) {
            // One that fails ends as all others do: its caller comes again with the last id it has.
            const read = await reader.read().catch((err: unknown) => {
              log.warn({ err }, 'a stream of events failed');
              return { done: true, value: undefined } as const;
            });
            // It may have ended while this was read.
            if (!open) return;
            if (!read.done) return controller.enqueue(read.value);
            leave();
            controller.close();
          },
          async cancel(reason) {
            leave();
            await reader.cancel(reason);
          },
        },
        { highWaterMark: 0 },
      );
      return new Response(body, { status, headers });
    },
    stop() {
      stopped = true;
      for (const end of [...ends]) end();
    },
    get open() {
      return ends.size;
    },
  };
}
