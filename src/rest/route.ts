import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';

/** What a route says of itself, once for its handler and once for `/openapi.json`. */
export interface RouteDescription {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly name: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  readonly right?: 'none' | 'token' | 'admin';
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** What is read from headers of the request, by their names. */
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The body as the document shows it, where the check is looser because items of a list fail one by one. */
  readonly shown?: z.ZodType;
  readonly answer: z.ZodType;
  /** Whether it answers as server-sent events too. */
  readonly streams?: boolean;
  readonly errors?: readonly ErrorCode[];
}

/** The parts of the API, in the order of the document. */
export const TAGS = {
  leases: 'The verbs on one node.',
  queue: 'The verbs on many nodes.',
  nodes: 'The nodes of the graph, their edges and their status.',
  identity: 'Who calls.',
  server: 'The server itself. None of these needs a token.',
} as const;

export type Tag = keyof typeof TAGS;

/** The methods that each path takes. Where GET is, HEAD is. */
export function methodsByPath(routes: readonly RouteDescription[]): ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, string[]>();
  for (const { path, method } of routes) {
    methods.set(path, [...(methods.get(path) ?? []), ...(method === 'GET' ? ['GET', 'HEAD'] : [method])]);
  }
  return methods;
}
