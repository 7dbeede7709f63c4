import type { Identity } from '../identity/authenticate.ts';
import type { TokenWatch } from '../identity/token-watch.ts';

/** Ends a subscription over HTTP when the token that opened it ends, and stops watching the token when it is over. */
export function endWithToken(answer: Response, identity: Identity, tokens: TokenWatch): Response {
  if (answer.body === null || !answer.headers.get('Content-Type')?.startsWith('text/event-stream')) return answer;
  const reader = answer.body.getReader();
  let unwatch = () => {};
  let open = true;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      unwatch = tokens.add(identity, () => {
        open = false;
        controller.close();
        void reader.cancel();
      });
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      // The token may have ended while this was read.
      if (!open) return;
      if (!done) {
        controller.enqueue(value);
        return;
      }
      unwatch();
      controller.close();
    },
    async cancel(reason) {
      unwatch();
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: answer.status, headers: answer.headers });
}
