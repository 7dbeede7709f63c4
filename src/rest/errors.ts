import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import type { Refusal, RefusalCode } from '../lease/refusal.ts';
import { lease, leaseJson, type Names } from './wire.ts';

/** Every code of the REST door with its status. The domain's refusals keep their names here. */
export const STATUS_OF = {
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  lease_lost: 409,
  not_ready: 409,
  limit_reached: 409,
  transition_denied: 409,
  too_large: 413,
  unsupported_media_type: 415,
  invalid_json: 400,
  invalid_node: 422,
  invalid_input: 422,
  rate_limited: 429,
  unavailable: 503,
  internal: 500,
} as const satisfies Record<RefusalCode, number> & Record<string, number>;

export type ErrorCode = keyof typeof STATUS_OF;

export const errorBody = z
  .object({
    error: z
      .object({
        code: z.enum(Object.keys(STATUS_OF) as [ErrorCode, ...ErrorCode[]]).describe('The reason, for programs.'),
        message: z.string().describe('The reason, for people: who holds what until when, and what to do next.'),
        details: z
          .object({
            field: z.string().optional().describe('The field that is wrong, with `invalid_input`.'),
            limit: z.int().optional().describe('The most leases in force for one person, with `limit_reached`.'),
            request_id: z.string().optional().describe('What to tell the operator, with `internal`.'),
          })
          .optional()
          .describe('More about the reason.'),
      })
      .describe('Why nothing was done.'),
    holder: lease.optional().describe('The lease in force that stands in the way.'),
  })
  .meta({ id: 'Error', description: 'The one form of every refusal and fault.' });

type Details = NonNullable<z.output<typeof errorBody>['error']['details']>;

/** What an answer has to say in its headers, by its code. */
const HEADERS_OF: Readonly<Partial<Record<ErrorCode, Readonly<Record<string, string>>>>> = {
  unauthorized: { 'WWW-Authenticate': 'Bearer' },
  // What is left of the body is not read, so the connection is of no more use.
  too_large: { Connection: 'close' },
  rate_limited: { 'Retry-After': '1' },
  unavailable: { 'Retry-After': '1' },
};

/** A call that ends with an error envelope. Thrown by what a handler calls before the engine is asked. */
export class RestError extends Error {
  override readonly name = 'RestError';
  readonly code: ErrorCode;
  readonly details: Details | undefined;

  constructor(code: ErrorCode, message: string, details?: Details) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

export function errorAnswer(
  c: Context,
  code: ErrorCode,
  message: string,
  more: { details?: Details | undefined; headers?: Record<string, string> } = {},
): Response {
  const error = { code, message, ...(more.details && { details: more.details }) };
  return c.json({ error }, STATUS_OF[code] as ContentfulStatusCode, { ...HEADERS_OF[code], ...more.headers });
}

/** A refusal as an answer: who holds it beside the error, and when it is worth trying again. */
export function refusalAnswer(c: Context, refusal: Refusal, names: Names): Response {
  const { code, message, holder, field, limit } = refusal;
  const details = {
    ...(field !== undefined && { field: FIELDS[field] ?? field }),
    ...(limit !== undefined && { limit }),
  };
  const error = { code, message, ...(Object.keys(details).length > 0 && { details }) };
  const status = STATUS_OF[code] as ContentfulStatusCode;
  if (holder === null) return c.json({ error }, status);
  return c.json({ error, holder: leaseJson(holder, names) }, status, { 'Retry-After': retryAfter(holder.expiresInMs) });
}

/** What REST calls a field where the domain has another word. */
const FIELDS: Readonly<Record<string, string>> = { nodeId: 'id' };

/** Whole seconds, at least one. */
export function retryAfter(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1_000)));
}
