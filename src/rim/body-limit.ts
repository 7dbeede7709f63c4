/** The longest body that is read, bytes: enough for a legal bulk call of 1,000 ids with 200 characters each. */
export const LONGEST_BODY = 1_048_576;

/**
 * The request, if its body is short enough; null if it is too long. A body whose length is announced is not touched:
 * Node's parser reads no byte beyond that. One that comes in chunks is read here and counted on the way.
 */
export async function withinLimit(request: Request): Promise<Request | null> {
  const announced = request.headers.get('Content-Length');
  if (announced !== null) return Number(announced) > LONGEST_BODY ? null : request;
  if (request.method === 'GET' || request.method === 'HEAD' || request.body === null) return request;
  const body = await readCounted(request.body);
  if (body === null) return null;
  const { url, method, headers } = request;
  return new Request(url, { method, headers, body });
}

/** What lies beyond the limit is left unread: to cancel it would cut the connection, and with it the answer. */
async function readCounted(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  const reader = stream.getReader();
  let length = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    length += read.value.length;
    if (length > LONGEST_BODY) return null;
    chunks.push(read.value);
  }
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}
