import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ExecutionArgs, type ExecutionResult, type FormattedExecutionResult, GraphQLError } from 'graphql';
import { CloseCode, makeServer } from 'graphql-ws';
import type { Logger } from 'pino';
import { type WebSocket, WebSocketServer } from 'ws';
import { isOutage } from '../db/outage.ts';
import { Unavailable } from '../engine/unavailable.ts';
import type { Authenticate, Identity } from '../identity/authenticate.ts';
import type { TokenWatch } from '../identity/token-watch.ts';
import { toldError } from './told-error.ts';

/**
 * The GraphQL door over WebSocket, by the protocol graphql-transport-ws at `/graphql`. Verbs work on it too, so that an
 * agent can heartbeat on the socket it listens on. A mistake in one document is an answer to that document and never
 * closes the socket.
 *
 * Close codes that clients take as "try again": 4403 a token that is missing, bad, expired or revoked (they ask for a new
 * one), 1012 a restart, 1013 too many sockets.
 */
export interface SocketDoor {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Tells every client to come back to another server. */
  stop(): Promise<void>;
  readonly sockets: number;
}

export interface SocketLimits {
  readonly maxPayload: number;
  readonly subscriptionsPerSocket: number;
  readonly mostSockets: number;
  readonly initTimeoutMs: number;
  /** A socket that does not answer a ping within this time is let go. */
  readonly pingMs: number;
}

const LIMITS: SocketLimits = {
  // A legal bulk call has 1,000 ids of up to 200 characters.
  maxPayload: 1_048_576,
  subscriptionsPerSocket: 100,
  mostSockets: 20_000,
  initTimeoutMs: 3_000,
  pingMs: 12_000,
};

export interface SocketParts {
  /** Parses, validates and executes as the door over HTTP does. */
  readonly enveloped: (identity: Identity) => Enveloped;
  readonly authenticate: Authenticate;
  readonly tokens: TokenWatch;
  readonly log: Logger;
  readonly limits?: Partial<SocketLimits>;
}

interface Enveloped {
  readonly schema: ExecutionArgs['schema'];
  parse(source: string): ExecutionArgs['document'];
  validate(schema: ExecutionArgs['schema'], document: ExecutionArgs['document']): readonly GraphQLError[];
  contextFactory(): unknown;
  execute(args: ExecutionArgs): unknown;
  subscribe(args: ExecutionArgs): unknown;
}

/** What is known of a socket once it was let in. */
interface Extra {
  readonly socket: WebSocket;
  identity?: Identity;
  unwatch?: () => void;
}

export function createSocketDoor(parts: SocketParts): SocketDoor {
  const { authenticate, tokens, log } = parts;
  const limits = { ...LIMITS, ...parts.limits };
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: limits.maxPayload,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has('graphql-transport-ws') ? 'graphql-transport-ws' : false),
  });
  server.on('error', (err) => log.error({ err }, 'the WebSocket server failed'));

  const operations = new WeakMap<ExecutionArgs, Enveloped>();
  const protocol = makeServer<Record<string, unknown>, Extra>({
    connectionInitWaitTimeout: limits.initTimeoutMs,
    async onConnect({ connectionParams, extra }) {
      const identity = await letIn(connectionParams);
      if (identity === null) return false;
      extra.identity = identity;
      extra.unwatch = tokens.add(identity, () => extra.socket.close(4403, 'Forbidden'));
      // It may have closed while its token was looked at.
      if (extra.socket.readyState !== extra.socket.OPEN) extra.unwatch();
      return true;
    },
    onDisconnect: ({ extra }) => extra.unwatch?.(),
    onClose: ({ extra }) => extra.unwatch?.(),
    async onSubscribe({ extra, subscriptions }, _id, { query, variables, operationName }) {
      if (Object.keys(subscriptions).length > limits.subscriptionsPerSocket) {
        const message = `This socket has ${limits.subscriptionsPerSocket} operations open already. Complete some first.`;
        return [
          new GraphQLError(message, { extensions: { code: 'LIMIT_REACHED', limit: limits.subscriptionsPerSocket } }),
        ];
      }
      try {
        const enveloped = parts.enveloped(extra.identity as Identity);
        const document = enveloped.parse(query);
        const errors = enveloped.validate(enveloped.schema, document);
        if (errors.length > 0) return errors.map((error) => withoutHttp(toldError(error, log)));
        const args: ExecutionArgs = {
          schema: enveloped.schema,
          document,
          ...(variables != null && { variableValues: variables }),
          ...(operationName != null && { operationName }),
          contextValue: await enveloped.contextFactory(),
        };
        operations.set(args, enveloped);
        return args;
      } catch (error) {
        // Thrown here it would close the socket with all that runs on it.
        return [withoutHttp(toldError(error, log))];
      }
    },
    execute: (args) =>
      operations.get(args as ExecutionArgs)?.execute(args as ExecutionArgs) as Promise<ExecutionResult>,
    subscribe: (args) =>
      operations.get(args as ExecutionArgs)?.subscribe(args as ExecutionArgs) as Promise<ExecutionResult>,
    onError: (_context, _id, _payload, errors) => errors.map((error) => withoutHttp(toldError(error, log)).toJSON()),
    onNext(_context, _id, _payload, _args, { errors, ...result }) {
      if (errors === undefined) return undefined;
      return { ...result, errors: errors.map((error) => withoutHttp(error).toJSON()) } as FormattedExecutionResult;
    },
  });
  server.on('connection', (socket) => open(socket));

  /** Hands a socket to the protocol, and watches that there is still someone at its other end. */
  function open(socket: WebSocket): void {
    let answered = true;
    const ping = setInterval(() => {
      if (!answered) socket.terminate();
      answered = false;
      if (socket.readyState === socket.OPEN) socket.ping();
    }, limits.pingMs);
    socket.on('pong', () => {
      answered = true;
    });
    const closed = protocol.opened(
      {
        protocol: socket.protocol,
        // Resolved when the message has left this process, so that a client that stops reading is not sent more.
        send: (message) =>
          new Promise((sent, failed) => {
            if (socket.readyState !== socket.OPEN) sent();
            else socket.send(message, (error) => (error ? failed(error) : sent()));
          }),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) =>
          socket.on('message', (message) => {
            handle(String(message)).catch((err: unknown) => {
              if (isOutOfPlace(err)) return socket.close(CloseCode.BadRequest, 'Invalid message received');
              log.warn({ err }, 'a message of a socket could not be handled');
              const later = err instanceof Unavailable || isOutage(err);
              socket.close(later ? 1013 : CloseCode.InternalServerError);
            });
          }),
      },
      { socket },
    );
    // What a client sends against the protocol of the wire closes its socket, which is told by 'close'.
    socket.on('error', (err) => log.debug({ err }, 'a socket failed'));
    socket.once('close', (code, reason) => {
      clearInterval(ping);
      closed(code, String(reason)).catch((err: unknown) => log.error({ err }, 'a socket could not be closed'));
    });
  }

  /** The caller of a socket; null for a token that does not let in. */
  function letIn(params: Readonly<Record<string, unknown>> | undefined): Promise<Identity | null> {
    const [, given] = Object.entries(params ?? {}).find(([name]) => name.toLowerCase() === 'authorization') ?? [];
    return authenticate(typeof given === 'string' ? given : undefined);
  }

  return {
    upgrade(request, socket, head) {
      socket.on('error', () => socket.destroy());
      const [path] = (request.url ?? '').split('?');
      if (path !== '/graphql') return refuse(socket, '404 Not Found');
      if (server.clients.size >= limits.mostSockets) return refuse(socket, '503 Service Unavailable\r\nRetry-After: 5');
      server.handleUpgrade(request, socket, head, (client) => server.emit('connection', client, request));
    },
    async stop() {
      for (const client of server.clients) client.close(1012, 'Service Restart');
      await new Promise<void>((stopped) => {
        const limit = setTimeout(() => {
          for (const client of server.clients) client.terminate();
        }, 1_000);
        server.close(() => {
          clearTimeout(limit);
          stopped();
        });
      });
    },
    get sockets() {
      return server.clients.size;
    },
  };
}

/** Answers a request that is not let up to a socket. Closed both ways: what else may come is nobody's. */
function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}

/** The protocol has the message, but not from a client. The library throws, which would count as a fault of ours. */
function isOutOfPlace(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Unexpected message of type');
}

/** Over a socket there is no HTTP status to tell. */
function withoutHttp(error: GraphQLError): GraphQLError {
  if (error.extensions.http === undefined) return error;
  const { http: _, ...extensions } = error.extensions;
  return new GraphQLError(error.message, { nodes: error.nodes ?? null, path: error.path ?? null, extensions });
}
