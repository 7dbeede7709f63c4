import type { Context, Hono } from 'hono';
import type { Logger } from 'pino';
import { isOutage } from '../db/outage.ts';
import { outageOnTheWay, Unavailable } from '../engine/unavailable.ts';
import type { Authenticate } from '../identity/authenticate.ts';
import { InvalidCursor } from '../read/page.ts';
import type { RestEnv, RestParts } from './door.ts';
import { errorAnswer, RestError, retryAfter } from './errors.ts';
import { eventRoutes } from './event-routes.ts';
import { graphRoutes } from './graph-routes.ts';
import { leaseRoutes } from './lease-routes.ts';
import { listRoutes } from './list-routes.ts';
import { meRoutes } from './me-routes.ts';
import { nodeRoutes } from './node-routes.ts';
import { queueRoutes } from './queue-routes.ts';
import { createRoutes } from './routes.ts';
import { type Readiness, serverRoutes } from './server-routes.ts';

/**
 * The REST door: thin, beside GraphQL. Every answer of it is JSON, errors in one envelope. What no route takes is
 * refused before anybody is asked for a token: which paths there are stands in `/openapi.json` for all to read.
 */
export function openRest(
  app: Hono<RestEnv>,
  parts: RestParts & {
    readonly authenticate: Authenticate;
    readonly log: Logger;
    /** Rejects when the database does not answer. */
    readonly check: () => Promise<unknown>;
  },
): Readiness {
  const routes = createRoutes(app, parts.authenticate);
  const readiness = serverRoutes(routes, parts.check);
  meRoutes(routes);
  leaseRoutes(routes, parts);
  queueRoutes(routes, parts);
  nodeRoutes(routes, parts);
  graphRoutes(routes, parts);
  listRoutes(routes, parts);
  eventRoutes(routes, parts);
  routes.refuseOtherMethods();
  app.notFound((c) => errorAnswer(c, 'not_found', `There is nothing at ${c.req.method} ${c.req.path}.`));
  app.onError((error, c) => faultAnswer(c, error, parts.log));
  return readiness;
}

/** What went wrong, as far as the caller can act on it; the rest is for the log, which names the same request. */
function faultAnswer(c: Context<RestEnv>, error: Error, log: Logger): Response {
  if (error instanceof InvalidCursor)
    return errorAnswer(c, 'invalid_input', error.message, { details: { field: 'cursor' } });
  if (error instanceof RestError) return errorAnswer(c, error.code, error.message, { details: error.details });
  const requestId = c.get('requestId');
  const outage = error instanceof Unavailable ? error : isOutage(error) ? outageOnTheWay(error) : null;
  if (outage !== null) {
    log.warn({ err: outage, requestId }, 'a call was not answered');
    return errorAnswer(c, 'unavailable', outage.message, {
      headers: { 'Retry-After': retryAfter(outage.retryAfterMs) },
    });
  }
  log.error({ err: error, requestId, path: c.req.path }, 'a call failed');
  const message = `Something went wrong here. The call may be repeated; if it fails again, tell the operator ${requestId}.`;
  return errorAnswer(c, 'internal', message, { details: { request_id: requestId } });
}
