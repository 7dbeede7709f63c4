import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Logger } from 'pino';
import { isOutage } from '../db/outage.ts';
import { databaseOutage, Unavailable } from '../engine/unavailable.ts';
import type { Authenticate } from '../identity/authenticate.ts';
import { LONGEST_BODY } from './body.ts';
import type { RestEnv, RestParts } from './door.ts';
import { errorAnswer, RestError, retryAfter } from './errors.ts';
import { leaseRoutes } from './lease-routes.ts';
import { meRoutes } from './me-routes.ts';
import { nodeRoutes } from './node-routes.ts';
import { queueRoutes } from './queue-routes.ts';

/** The REST door: `/v1`, thin, beside GraphQL. Every answer of it is JSON, errors in one envelope. */
export function createRest(
  parts: RestParts & { readonly authenticate: Authenticate; readonly log: Logger },
): Hono<RestEnv> {
  const rest = new Hono<RestEnv>();

  rest.use(async (c, next) => {
    await next();
    c.header('Cache-Control', 'no-store');
  });
  rest.use(async (c, next) => {
    const identity = await parts.authenticate(c.req.header('Authorization'));
    if (identity === null) {
      return errorAnswer(c, 'unauthorized', 'Send a valid token: Authorization: Bearer <token>.', {
        headers: { 'WWW-Authenticate': 'Bearer' },
      });
    }
    c.set('identity', identity);
    return next();
  });
  rest.use(
    bodyLimit({
      maxSize: LONGEST_BODY,
      onError: (c) =>
        errorAnswer(c, 'too_large', `The body is over ${LONGEST_BODY} bytes. Send it in parts.`, {
          headers: { Connection: 'close' },
        }),
    }),
  );

  rest.route('/', meRoutes());
  rest.route('/', leaseRoutes(parts));
  rest.route('/', queueRoutes(parts));
  rest.route('/', nodeRoutes(parts));

  rest.notFound((c) => errorAnswer(c, 'not_found', `There is nothing at ${c.req.method} ${c.req.path}.`));
  rest.onError((error, c) => {
    if (error instanceof RestError) return errorAnswer(c, error.code, error.message, { details: error.details });
    const outage = error instanceof Unavailable ? error : isOutage(error) ? databaseOutage(error) : null;
    if (outage !== null) {
      parts.log.warn({ err: outage }, 'a call was not answered');
      return errorAnswer(c, 'unavailable', outage.message, {
        headers: { 'Retry-After': retryAfter(outage.retryAfterMs) },
      });
    }
    parts.log.error({ err: error, path: c.req.path }, 'a call failed');
    return errorAnswer(
      c,
      'internal',
      'Something went wrong here. The call may be repeated; if it fails again, tell the operator.',
    );
  });
  return rest;
}
