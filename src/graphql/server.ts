import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import type { Logger } from 'pino';
import { isOutage } from '../db/outage.ts';
import type { Engine } from '../engine/engine.ts';
import { databaseOutage, Unavailable } from '../engine/unavailable.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { AdminFault } from '../identity/admin-fault.ts';
import type { Authenticate, Identity } from '../identity/authenticate.ts';
import { createLoaders, type GraphqlContext } from './context.ts';
import { schema } from './schema.ts';

/** The GraphQL door over HTTP. Without a valid token it is HTTP 401, whatever the document. */
export interface GraphqlParts {
  readonly engine: Engine;
  readonly reads: PrismaClient;
  readonly authenticate: Authenticate;
  readonly log: Logger;
}

export function createGraphql({ engine, reads, authenticate, log }: GraphqlParts) {
  const yoga: YogaServerInstance<{ identity: Identity }, GraphqlContext> = createYoga({
    schema,
    graphqlEndpoint: '/graphql',
    cors: false,
    multipart: false,
    landingPage: false,
    graphiql: false,
    logging: false,
    context: ({ identity }: { identity: Identity }): GraphqlContext => ({
      identity,
      engine,
      reads,
      load: createLoaders(reads, identity.tenantId),
    }),
    maskedErrors: { maskError: (error) => tell(error, log) },
  });
  return {
    async fetch(request: Request): Promise<Response> {
      let identity: Identity | null;
      try {
        identity = await authenticate(request.headers.get('Authorization') ?? undefined);
      } catch (error) {
        if (!isOutage(error)) throw error;
        return outOfReach(databaseOutage(error), log);
      }
      return identity === null ? unauthorized() : yoga.fetch(request, { identity });
    },
  };
}

/** Whose token it is can't be told while the database is away, so there is no document to answer. */
function outOfReach(outage: Unavailable, log: Logger): Response {
  log.warn({ err: outage }, 'a call was not answered');
  const { message, retryAfterMs } = outage;
  return Response.json(
    { errors: [{ message, extensions: { code: 'UNAVAILABLE', retryAfterMs } }] },
    { status: 503, headers: { 'Retry-After': String(Math.ceil(retryAfterMs / 1_000)), 'Cache-Control': 'no-store' } },
  );
}

function unauthorized(): Response {
  const message = 'Send a valid token: Authorization: Bearer <token>.';
  return Response.json(
    { errors: [{ message, extensions: { code: 'UNAUTHORIZED' } }] },
    { status: 401, headers: { 'WWW-Authenticate': 'Bearer', 'Cache-Control': 'no-store' } },
  );
}

/** What a caller may know of an error: what they can act on. A fault of ours is logged and named no further. */
function tell(error: unknown, log: Logger): GraphQLError {
  if (!(error instanceof GraphQLError)) return fault(error, log);
  const { originalError: original } = error;
  if (original === undefined || original === null || original instanceof GraphQLError) return withCode(error);
  if (original instanceof AdminFault) return inPlace(error, original.message, { code: original.code });
  const outage = original instanceof Unavailable ? original : isOutage(original) ? databaseOutage(original) : null;
  if (outage === null) return inPlace(error, ...told(fault(original, log)));
  log.warn({ err: outage }, 'a call was not answered');
  return inPlace(error, outage.message, { code: 'UNAVAILABLE', retryAfterMs: outage.retryAfterMs });
}

/** What the library refuses without a code of its own: variables and global ids of the wrong form. */
function withCode(error: GraphQLError): GraphQLError {
  const { message, extensions } = error;
  return extensions.code === undefined ? inPlace(error, message, { ...extensions, code: 'INVALID_INPUT' }) : error;
}

const told = ({ message, extensions }: GraphQLError) => [message, extensions] as const;

function fault(error: unknown, log: Logger): GraphQLError {
  log.error({ err: error }, 'a call failed');
  return new GraphQLError(
    'Something went wrong here. The call may be repeated; if it fails again, tell the operator.',
    {
      extensions: { code: 'INTERNAL' },
    },
  );
}

/** Another error at the same place of the document. */
function inPlace({ nodes, path }: GraphQLError, message: string, extensions: GraphQLErrorExtensions): GraphQLError {
  return new GraphQLError(message, { nodes: nodes ?? null, path: path ?? null, extensions });
}
