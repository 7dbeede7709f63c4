import { randomUUID } from 'node:crypto';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { Logger } from 'pino';
import type { Engine } from '../engine/engine.ts';
import { Unavailable } from '../engine/unavailable.ts';
import type { Live } from '../events/live.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Authenticate, Identity } from '../identity/authenticate.ts';
import type { TokenWatch } from '../identity/token-watch.ts';
import { withinLimit } from '../rim/body-limit.ts';
import type { OpenStreams } from '../rim/open-streams.ts';
import { headersOf } from '../rim/request.ts';
import { createLoaders, type GraphqlContext } from './context.ts';
import { internal, outOfReach, tooLarge, unauthorized, wrongMediaType, wrongMethod } from './refused-request.ts';
import { schema } from './schema.ts';
import { toldError } from './told-error.ts';

/** The GraphQL door over HTTP. Without a valid token it is HTTP 401, whatever the document. */
export interface GraphqlParts {
  readonly engine: Engine;
  readonly reads: PrismaClient;
  readonly live: Live;
  readonly tokens: TokenWatch;
  readonly streams: OpenStreams;
  readonly authenticate: Authenticate;
  readonly log: Logger;
}

/** What is known before the document is. */
interface Called {
  readonly identity: Identity;
  readonly requestId: string;
}

export function createGraphql({ engine, reads, live, tokens, streams, authenticate, log }: GraphqlParts) {
  const loadersOf = createLoaders(reads);
  const yoga: YogaServerInstance<Called, GraphqlContext> = createYoga({
    schema,
    graphqlEndpoint: '/graphql',
    cors: false,
    multipart: false,
    landingPage: false,
    graphiql: false,
    logging: false,
    // Its own limit sends every body through a transform stream, at half the speed; ours stands in front.
    maxRequestBodySize: false,
    context: ({ identity }: Called): GraphqlContext => ({
      identity,
      engine,
      reads,
      live,
      load: loadersOf(identity.tenantId),
    }),
    plugins: [tellWithId(log)],
    maskedErrors: { maskError: (error) => toldError(error, log) },
  });

  async function answer(request: Request, requestId: string): Promise<Response> {
    if (!['GET', 'HEAD', 'POST'].includes(request.method)) return wrongMethod(request.method);
    try {
      const identity = await authenticate(request.headers.get('Authorization') ?? undefined);
      if (identity === null) return unauthorized();
      const bounded = await withinLimit(request);
      if (bounded === null) return tooLarge();
      const answer = await yoga.fetch(asGet(bounded), { identity, requestId });
      const answered = streams.keep(request.method, answer, (end) => tokens.add(identity, end));
      // Yoga has no words for this one.
      return answered.status === 415 ? wrongMediaType(request.headers.get('Content-Type')) : answered;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      log.warn({ err: error, requestId }, 'a call was not answered');
      return outOfReach(error.message, error.retryAfterMs);
    }
  }

  return {
    /** The same parsing, validation and execution, for the door over WebSocket. */
    enveloped: (identity: Identity) => yoga.getEnveloped({ identity, requestId: randomUUID() } as never),
    async fetch(request: Request, requestId: string): Promise<Response> {
      const answered = await answer(request, requestId).catch((error: unknown) => {
        const { message, extensions } = toldError(error, log, requestId);
        return internal(message, extensions);
      });
      for (const [name, value] of Object.entries(headersOf(requestId))) answered.headers.set(name, value);
      return answered;
    },
  };
}

/** HEAD is answered as GET is; whoever sends it off leaves the body out. */
function asGet(request: Request): Request {
  return request.method === 'HEAD' ? new Request(request.url, { headers: request.headers }) : request;
}

/** Tells errors while it is known which request they belong to; later, when Yoga would ask, it is not. */
function tellWithId(log: Logger): Plugin<Called> {
  return {
    onExecute: ({ args }) => ({
      onExecuteDone({ result, setResult }) {
        if (!('errors' in result) || result.errors === undefined) return;
        const { requestId } = args.contextValue;
        setResult({ ...result, errors: result.errors.map((error) => toldError(error, log, requestId)) });
      },
    }),
  };
}
