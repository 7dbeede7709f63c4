import { z } from 'zod';
import { type ErrorCode, errorBody, STATUS_OF } from './errors.ts';
import { type RouteDescription, TAGS } from './route.ts';

/**
 * The OpenAPI document, made from the very schemas that validate and from those that answers are typed by. It promises
 * the fields that are described and leaves room for more, so that a later version may add some.
 */
export type OpenapiDocument = Readonly<Record<string, unknown>>;

type JsonObject = Record<string, unknown>;

const ABOUT = `Claims, heartbeats and reservations over work that people and agents share. Success is exactly 200; every
refusal has the same envelope, with a code for programs and a message for people. Every verb is safe to repeat when its
answer was lost. Instants are ISO 8601 in UTC with milliseconds, durations are milliseconds. Send an \`X-Request-Id\` of
at most 128 safe characters to find a call again in the log; every answer has one.`.replaceAll('\n', ' ');

export function openapiDocument(routes: readonly RouteDescription[]): OpenapiDocument {
  const schemas: JsonObject = {};
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route, schemas) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Holdfast',
      version: '1',
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This server.' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of a person or an agent: `hf_<tenant>_<secret>`.',
        },
      },
      headers: HEADERS,
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

const HEADERS = {
  RequestId: { description: 'The id of the request, as it came or made here.', schema: { type: 'string' } },
  RetryAfter: { description: 'When to try again: whole seconds, at least 1.', schema: { type: 'string' } },
  Authenticate: { description: 'What the caller is to send: `Bearer`.', schema: { type: 'string' } },
} as const;

function operation(route: RouteDescription, schemas: JsonObject): JsonObject {
  const parameters = [
    ...parametersOf(route.params, 'path'),
    ...parametersOf(route.query, 'query'),
    ...parametersOf(route.headers, 'header'),
  ];
  return {
    operationId: route.name,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description !== undefined && { description: route.description }),
    ...(route.right === 'none' && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body !== undefined && { requestBody: requestBody(route.body, route.shown ?? route.body, schemas) }),
    responses: {
      '200': {
        description: 'Done.',
        headers: headersOf(200),
        content: {
          ...json(schemaOf(route.answer, 'output', schemas)),
          ...(route.streams === true && { 'text/event-stream': { schema: { type: 'string' } } }),
        },
      },
      ...refusalsOf(route, schemas),
    },
  };
}

function parametersOf(schema: z.ZodObject | undefined, place: 'path' | 'query' | 'header'): JsonObject[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(schema, 'input', {}) as {
    properties?: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    ...{ name, in: place, required: required.includes(name), description },
    schema: rest,
  }));
}

/** A body may always be left out: then it is `{}`, and what it must have is missing. */
function requestBody(body: z.ZodType, shown: z.ZodType, schemas: JsonObject): JsonObject {
  return { required: !body.safeParse({}).success, content: json(schemaOf(shown, 'input', schemas)) };
}

/** One answer for each status, with the codes it may have on this route. */
function refusalsOf(route: RouteDescription, schemas: JsonObject): JsonObject {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(errorsOf(route))) {
    byStatus.set(STATUS_OF[code], [...(byStatus.get(STATUS_OF[code]) ?? []), code]);
  }
  return Object.fromEntries([...byStatus].map(([status, codes]) => [String(status), refusal(status, codes, schemas)]));
}

function errorsOf({ right = 'token', params, query, body, errors = [] }: RouteDescription): ErrorCode[] {
  return [
    ...(right === 'none' ? [] : (['unauthorized', 'rate_limited', 'unavailable'] as const)),
    ...(right === 'admin' ? (['forbidden'] as const) : []),
    ...(body === undefined ? [] : (['invalid_json', 'too_large', 'unsupported_media_type'] as const)),
    ...(params === undefined && query === undefined && body === undefined ? [] : (['invalid_input'] as const)),
    ...errors,
    'internal',
  ];
}

function refusal(status: number, codes: readonly ErrorCode[], schemas: JsonObject): JsonObject {
  const oneOf = { properties: { error: { properties: { code: { enum: codes } } } } };
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: headersOf(status),
    content: json({ allOf: [schemaOf(errorBody, 'output', schemas), oneOf] }),
  };
}

function headersOf(status: number): JsonObject {
  const retry = status === 409 || status === 429 || status === 503;
  return {
    'X-Request-Id': { $ref: '#/components/headers/RequestId' },
    ...(retry && { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }),
    ...(status === 401 && { 'WWW-Authenticate': { $ref: '#/components/headers/Authenticate' } }),
  };
}

const json = (schema: JsonObject) => ({ 'application/json': { schema } });

/** A schema as JSON Schema. What has a name becomes a component, and is referred to. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', schemas: JsonObject): JsonObject {
  const made = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      // The bounds of whole numbers in JavaScript say nothing about the field.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const {
    $schema,
    $defs = {},
    ...rest
  } = JSON.parse(JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/')) as JsonObject & {
    $defs?: JsonObject;
  };
  for (const [name, definition] of Object.entries($defs)) schemas[name] = withoutId(definition as JsonObject);
  return rest;
}

/** The name stands in the key already, and `id` is no word of JSON Schema. */
function withoutId({ id, ...rest }: JsonObject): JsonObject {
  return rest;
}
