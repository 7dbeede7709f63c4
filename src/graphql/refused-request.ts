import { LONGEST_BODY } from '../rim/body-limit.ts';

/** Requests that never become a document. They are answered as GraphQL clients read errors. */
function refused(
  status: number,
  message: string,
  extensions: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ errors: [{ message, extensions }] }, { status, headers });
}

export function unauthorized(): Response {
  const message = 'Send a valid token: Authorization: Bearer <token>.';
  return refused(401, message, { code: 'UNAUTHORIZED' }, { 'WWW-Authenticate': 'Bearer' });
}

export function wrongMethod(method: string): Response {
  const allow = 'GET, HEAD, POST';
  return refused(
    405,
    `/graphql does not take ${method}. Use ${allow}.`,
    { code: 'METHOD_NOT_ALLOWED' },
    { Allow: allow },
  );
}

/** What is left of the body is not read, so the connection is of no more use. */
export function tooLarge(): Response {
  const message = `The body is over ${LONGEST_BODY} bytes. Send it in parts.`;
  return refused(413, message, { code: 'TOO_LARGE' }, { Connection: 'close' });
}

export function wrongMediaType(type: string | null): Response {
  const message = `The body is ${type ?? 'of no type'}; send application/json.`;
  return refused(415, message, { code: 'UNSUPPORTED_MEDIA_TYPE' });
}

/** Whose token it is can't be told while the database is away, so there is no document to answer. */
export function outOfReach(message: string, retryAfterMs: number): Response {
  const seconds = String(Math.max(1, Math.ceil(retryAfterMs / 1_000)));
  return refused(503, message, { code: 'UNAVAILABLE', retryAfterMs }, { 'Retry-After': seconds });
}

export function internal(message: string, extensions: Readonly<Record<string, unknown>>): Response {
  return refused(500, message, extensions);
}
