import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

interface SentNode {
  readonly id: string;
  readonly [field: string]: unknown;
}

export interface Sent {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: number;
  readonly body: { readonly if_exists: string; readonly nodes: readonly SentNode[] };
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Stands in for a server that misbehaves on cue. It keeps every request, and makes every node unless told otherwise. */
export async function startStub(replyTo: (sent: Sent, count: number) => Reply | undefined = () => undefined) {
  const sent: Sent[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const { url: path = '', headers } = request;
    const one = { path, headers, bytes: bytes.length, body: JSON.parse(bytes.toString()) as Sent['body'] };
    sent.push(one);
    const reply = replyTo(one, sent.length) ?? { status: 200, body: { results: results(one, 'created') } };
    response.writeHead(reply.status, reply.headers).end(reply.body === undefined ? '' : JSON.stringify(reply.body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    sent,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function results({ body }: Sent, status: string, error?: string) {
  return body.nodes.map(({ id }) => ({ id, status, ...(error !== undefined && { error }) }));
}
