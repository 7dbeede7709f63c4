import type { Context } from 'hono';
import { z } from 'zod';
import { LONGEST_BODY, withinLimit } from '../rim/body-limit.ts';
import { RestError } from './errors.ts';

/**
 * The body of a call, read as its schema says. No body, or an empty one, is `{}`; a body without content type is read as
 * JSON; unknown fields are ignored.
 * @throws RestError too_large, unsupported_media_type, invalid_json, invalid_input
 */
export async function readBody<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  const type = c.req.header('Content-Type');
  if (type !== undefined && !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)) {
    throw new RestError('unsupported_media_type', `The body is ${type}; send application/json.`);
  }
  const request = await withinLimit(c.req.raw);
  if (request === null) throw new RestError('too_large', `The body is over ${LONGEST_BODY} bytes. Send it in parts.`);
  const text = await request.text();
  return checked(schema, text.trim() === '' ? {} : parse(text), 'The body');
}

/**
 * What a schema makes of a value.
 * @param whole what the value is called where it is wrong as a whole
 * @throws RestError invalid_input
 */
export function checked<S extends z.ZodType>(schema: S, value: unknown, whole: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.join('.') ?? '';
  if (field === '') throw new RestError('invalid_input', `${whole} must be an object.`);
  throw new RestError('invalid_input', `${field} ${issue?.message}.`, { field });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RestError('invalid_json', 'The body is no JSON.');
  }
}

/** Null counts as absent. Form and length are the domain's to check. */
const optional = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? null);

export const optionalText = optional(z.string('must be a string'));
export const optionalFlag = optional(z.boolean('must be true or false'));

/** Fences travel as decimal strings. */
export const optionalFence = optional(
  z
    .string('must be a decimal string')
    .regex(/^\d{1,100}$/, 'must be a decimal string')
    .transform(BigInt),
);
export const idList = z.array(z.string('must be a string'), 'must be a list of ids');
