import type { Hono } from 'hono';
import { z } from 'zod';
import type { Authenticate } from '../identity/authenticate.ts';
import { checked, readBody } from './body.ts';
import type { RestContext, RestEnv } from './door.ts';
import { errorAnswer } from './errors.ts';
import { methodsByPath, type RouteDescription } from './route.ts';

type Described<P, Q, H, B, A> = Omit<RouteDescription, 'params' | 'query' | 'headers' | 'body' | 'answer'> & {
  readonly params?: P;
  readonly query?: Q;
  readonly headers?: H;
  readonly body?: B;
  readonly answer: A;
};

/** What came with a request, read as the description says; what is not described is empty. */
interface Given<P extends z.ZodType, Q extends z.ZodType, H extends z.ZodType, B extends z.ZodType> {
  readonly params: z.output<P>;
  readonly query: z.output<Q>;
  readonly headers: z.output<H>;
  readonly body: z.output<B>;
}

type Nothing = z.ZodObject<Record<never, never>>;
const nothing: Nothing = z.object({});

/**
 * The one way to open a route of the REST door. It mounts the handler behind the checks that its description calls for,
 * and puts the same description into `/openapi.json`, so that a route without documentation can't exist.
 *
 *     routes.add(
 *       {
 *         method: 'POST',
 *         path: '/v1/nodes/{id}/break',          // as OpenAPI writes it
 *         name: 'breakLease',                    // the operationId
 *         tag: 'nodes',                          // see TAGS in route.ts
 *         summary: 'End the lease of another',   // one line; `description` may say more
 *         right: 'admin',                        // 'token' unless given; 'none' needs no token
 *         params: nodeParams,                    // z.object for what stands in braces in the path
 *         query: z.object({ … }),                // of strings, as they come
 *         body: z.object({ … }),                 // what validates also documents
 *         answer: brokenAnswer,                  // of status 200; every field has a description, times with their unit
 *         errors: ['not_found', 'invalid_node'], // beyond those that follow from the rest
 *       },
 *       async (c, { params, query, body }) => answer or refusalAnswer(c, …),
 *     );
 *
 * Give a schema a name with `.meta({ id: 'Lease', description: '…' })` and it becomes a component.
 */
export interface Routes {
  /** The handler returns the answer of status 200, or a whole response, which is how it refuses. */
  add<
    A extends z.ZodType,
    P extends z.ZodObject = Nothing,
    Q extends z.ZodObject = Nothing,
    H extends z.ZodObject = Nothing,
    B extends z.ZodType = Nothing,
  >(
    route: Described<P, Q, H, B, A>,
    handle: (c: RestContext, given: Given<P, Q, H, B>) => Promise<z.output<A> | Response>,
  ): void;
  /** All that were added so far. */
  readonly all: readonly RouteDescription[];
  /** Answers the other methods of every known path. To be called when all routes are there. */
  refuseOtherMethods(): void;
}

export function createRoutes(app: Hono<RestEnv>, authenticate: Authenticate): Routes {
  const all: RouteDescription[] = [];
  return {
    all,
    add(route, handle) {
      all.push(route as unknown as RouteDescription);
      const { params = nothing, query = nothing, headers = nothing, body } = route;
      checkParams(route.path, params);
      app.on(route.method, honoPath(route.path), async (c) => {
        const refused = await refuseCaller(c, route.right ?? 'token', authenticate);
        if (refused !== null) return refused;
        const given = {
          params: checked(params, c.req.param(), 'The path'),
          query: checked(query, queryOf(c), 'The query'),
          headers: checked(headers, headersOf(c, headers), 'The request'),
          body: body === undefined ? {} : await readBody(c, body),
        };
        const answer = await handle(c, given as never);
        return answer instanceof Response ? answer : c.json(answer as object);
      });
    },
    refuseOtherMethods() {
      for (const [path, methods] of methodsByPath(all)) {
        app.all(honoPath(path), (c) => {
          const allow = methods.join(', ');
          const message = `${c.req.path} does not take ${c.req.method}. Use ${allow}.`;
          return errorAnswer(c, 'method_not_allowed', message, { headers: { Allow: allow } });
        });
      }
    },
  };
}

async function refuseCaller(
  c: RestContext,
  right: 'none' | 'token' | 'admin',
  authenticate: Authenticate,
): Promise<Response | null> {
  if (right === 'none') return null;
  const identity = await authenticate(c.req.header('Authorization'));
  if (identity === null) return errorAnswer(c, 'unauthorized', 'Send a valid token: Authorization: Bearer <token>.');
  c.set('identity', identity);
  return right === 'admin' && !identity.admin ? errorAnswer(c, 'forbidden', 'This needs an admin token.') : null;
}

/** Each name with its value; with all of them where it came more than once. */
function queryOf(c: RestContext): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(c.req.queries()).map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}

function headersOf(c: RestContext, headers: z.ZodObject): Record<string, string | undefined> {
  return Object.fromEntries(Object.keys(headers.shape).map((name) => [name, c.req.header(name)]));
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function checkParams(path: string, params: z.ZodObject): void {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).join();
  const described = Object.keys(params.shape).join();
  if (named !== described) throw new Error(`${path} has the parameters ${named}, and ${described} are described`);
}
