import { collect, type Messages } from './live-rig.ts';

/** One message of a stream of server-sent events, by its lines. */
export interface StreamMessage {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
  readonly comment?: string;
}

export interface EventStream extends Omit<Messages, 'next' | 'all' | 'until' | 'stop'> {
  readonly headers: Headers;
  readonly all: readonly StreamMessage[];
  next(): Promise<StreamMessage>;
  until(passes: (message: StreamMessage) => boolean): Promise<readonly StreamMessage[]>;
  close(): void;
}

/** Follows a stream of server-sent events; every message is kept, comments too. */
export async function openEventStream(url: string, headers: Readonly<Record<string, string>>): Promise<EventStream> {
  const leave = new AbortController();
  const answer = await fetch(url, { headers: { ...headers, Accept: 'text/event-stream' }, signal: leave.signal });
  if (!answer.ok || answer.body === null) throw new Error(`${answer.status}: ${await answer.text()}`);
  const body = answer.body;
  const messages = collect((sink) => {
    read(body, (message) => sink.next(message)).then(() => sink.complete(), sink.error);
    return () => leave.abort();
  });
  return { ...messages, headers: answer.headers, close: messages.stop };
}

async function read(body: ReadableStream<Uint8Array>, take: (message: StreamMessage) => void): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) take(messageOf(part));
  }
  if (text !== '') throw new Error(`the stream was cut off in a message: ${text}`);
}

function messageOf(part: string): StreamMessage {
  const lines = part.split('\n').map((line) => {
    const [, name = '', value = ''] = /^(\w*): (.*)$/.exec(line) ?? [];
    return [name === '' ? 'comment' : name, value];
  });
  return Object.fromEntries(lines);
}
