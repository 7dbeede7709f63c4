import { randomUUID } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';

/** What every request has, whichever door it comes to. */
export interface RimEnv {
  Variables: { requestId: string };
}

/** An id that came with a request is taken over if it can stand in a header and on a line of a log as it is. */
const SAFE_ID = /^[\w.:+/=@-]{1,128}$/;

/** Answers are about one caller at one moment: nothing may keep them. The doors choose by these request headers. */
const HEADERS_OF_ALL = { 'Cache-Control': 'no-store', Vary: 'Accept, Authorization, Origin' } as const;

/**
 * Gives each request its id, and each answer the headers that all answers have. They are set before the answer is made:
 * set afterwards they would have it made twice. One line a request in the log at debug level; what stands in a query
 * string stays out of it, since GraphQL documents travel there too.
 */
export function requestRim(log: Logger): MiddlewareHandler<RimEnv> {
  return async (c, next) => {
    const given = c.req.header('X-Request-Id');
    const requestId = given !== undefined && SAFE_ID.test(given) ? given : randomUUID();
    c.set('requestId', requestId);
    for (const [name, value] of Object.entries(headersOf(requestId))) c.header(name, value);
    if (!log.isLevelEnabled('debug')) return next();
    const began = performance.now();
    await next();
    const ms = Math.round((performance.now() - began) * 10) / 10;
    log.debug({ requestId, method: c.req.raw.method, path: c.req.path, status: c.res.status, ms }, 'answered');
  };
}

/** The headers that every answer has. */
export function headersOf(requestId: string): Readonly<Record<string, string>> {
  return { 'X-Request-Id': requestId, ...HEADERS_OF_ALL };
}
