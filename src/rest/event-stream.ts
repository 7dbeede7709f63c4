import { type Followed, follow } from '../events/follow.ts';
import type { Live } from '../events/live.ts';
import type { EventFilter } from '../read/lease-events.ts';
import { eventJson } from './event-json.ts';

/**
 * The history as it happens, as server-sent events that `curl -N` shows. An id without data moves the cursor of a client
 * that listens to what its filter seldom lets through; an event reaches nobody by it.
 *
 * Nothing is read ahead of the caller: what a slow one has not taken waits in its bounded queue, and one that does not
 * keep up is told `slow_consumer` as its last event.
 */
const KEEP_ALIVE_MS = 15_000;

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Asks a proxy on the way to pass on each event as it comes.
  'X-Accel-Buffering': 'no',
};

/**
 * @param after exclusive; null follows live
 * @returns the latest seq where the cursor is beyond it, and no answer then
 */
export async function eventStream(
  live: Live,
  tenantId: string,
  after: bigint | null,
  filter: EventFilter,
): Promise<Response | { readonly latestSeq: bigint }> {
  const followed = await follow({ quietMs: KEEP_ALIVE_MS, ...live }, tenantId, after, filter);
  if ('latestSeq' in followed) return followed;
  const encoder = new TextEncoder();
  // The first line lets the headers out, when there is nothing to tell yet.
  let greeting = ': holdfast\n\n';
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (greeting !== '') {
          controller.enqueue(encoder.encode(greeting));
          greeting = '';
          return;
        }
        const { done, value } = await followed.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(told(value)));
      },
      async cancel() {
        await followed.return?.();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: HEADERS });
}

function told(message: Followed): string {
  switch (message.kind) {
    case 'event': {
      const { seq, kind } = message.event;
      return frame(seq, kind.toLowerCase(), eventJson(message.event));
    }
    case 'gap': {
      const { oldestSeq, latestSeq } = message;
      return frame(oldestSeq - 1n, 'gap', { oldest_seq: String(oldestSeq), latest_seq: String(latestSeq) });
    }
    case 'cursor':
      return `: keep-alive\nid: ${message.seq}\n\n`;
    case 'slow':
      return frame(message.lastSeq, 'slow_consumer', { last_seq: String(message.lastSeq) });
  }
}

/** JSON has no line breaks of its own, so the data is one line. */
function frame(id: bigint, event: string, data: object): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
