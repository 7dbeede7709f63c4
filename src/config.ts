import { isAbsolute } from 'node:path';
import { z } from 'zod';

/**
 * The only reader of the environment. Everything is checked at start and all faults are reported together, each with
 * the name of its variable.
 */
export interface ServerConfig {
  readonly host: string;
  readonly port: number;
  /** A PostgreSQL 15 or newer; null for the embedded one. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  /** Sets the first admin's token on a server database. */
  readonly adminToken: string | null;
  /** Connections of each of the two pools. */
  readonly poolSize: number;
  /** Whether statements are prepared by name; off for poolers that can't keep them. */
  readonly namedStatements: boolean;
  readonly stopTimeoutMs: number;
  /** Events kept for each tenant. */
  readonly eventsMax: number;
  readonly eventsMaxAgeMs: number;
  readonly logLevel: (typeof LOG_LEVELS)[number];
}

export interface ClientConfig {
  readonly url: string;
  readonly token: string | null;
}

/** A configuration that can't be used; the message lists every fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const;
const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** A duration in ms: a number of ms, or a number with ms, s, m, h, d or w. Null when it is neither. */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)?$/.exec(text.trim());
  return match === null ? null : Math.round(Number(match[1]) * (UNITS[match[2] ?? 'ms'] ?? 1));
}

const duration = z.string().transform((text, context) => {
  const ms = parseDuration(text);
  if (ms !== null && ms >= 1_000 && ms <= 90 * 86_400_000) return ms;
  context.addIssue({ code: 'custom', message: 'must be a duration from 1s to 90d, such as 90000, 90s or 45m' });
  return z.NEVER;
});

const wholeNumber = (least: number, most: number) => {
  const message = `must be a whole number from ${least} to ${most}`;
  return z.coerce.number(message).int(message).min(least, message).max(most, message);
};

const postgresUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\//, 'must be a URL that begins with postgresql://')
  .refine((text) => URL.canParse(text), 'must be a valid URL, such as postgresql://user:password@host:5432/name');

const serverSchema = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(4000),
  DATABASE_URL: postgresUrl.optional(),
  HOLDFAST_DATA_DIR: z.string().min(1).default('.holdfast'),
  HOLDFAST_ADMIN_TOKEN: z
    .string()
    .regex(
      /^hf_local_[A-Za-z0-9_-]{32,200}$/,
      'must be hf_local_ and at least 32 letters, digits, dashes or underscores',
    )
    .optional(),
  HOLDFAST_POOL_SIZE: wholeNumber(2, 100).default(8),
  HOLDFAST_NAMED_STATEMENTS: z.enum(['on', 'off']).default('on'),
  HOLDFAST_STOP_TIMEOUT: duration.default(10_000),
  HOLDFAST_EVENTS_MAX: z.coerce.number('must be a number').int().min(1).max(1_000_000_000).default(1_000_000),
  HOLDFAST_EVENTS_MAX_AGE: duration.default(30 * 86_400_000),
  HOLDFAST_LOG_LEVEL: z.enum(LOG_LEVELS).default('info'),
});

const clientSchema = z.object({
  HOLDFAST_URL: z.url({ protocol: /^https?$/, message: 'must be a URL such as http://127.0.0.1:4000' }).optional(),
  HOLDFAST_TOKEN: z.string().min(1).optional(),
});

type Environment = Readonly<Record<string, string | undefined>>;

export function readServerConfig(environment: Environment = process.env): ServerConfig {
  const read = parse(serverSchema, environment);
  return {
    host: read.HOST,
    port: read.PORT,
    databaseUrl: read.DATABASE_URL ?? null,
    dataDir: isAbsolute(read.HOLDFAST_DATA_DIR) ? read.HOLDFAST_DATA_DIR : `${process.cwd()}/${read.HOLDFAST_DATA_DIR}`,
    adminToken: read.HOLDFAST_ADMIN_TOKEN ?? null,
    poolSize: read.HOLDFAST_POOL_SIZE,
    namedStatements: read.HOLDFAST_NAMED_STATEMENTS === 'on',
    stopTimeoutMs: read.HOLDFAST_STOP_TIMEOUT,
    eventsMax: read.HOLDFAST_EVENTS_MAX,
    eventsMaxAgeMs: read.HOLDFAST_EVENTS_MAX_AGE,
    logLevel: read.HOLDFAST_LOG_LEVEL,
  };
}

export function readClientConfig(environment: Environment = process.env): ClientConfig {
  const read = parse(clientSchema, environment);
  return { url: read.HOLDFAST_URL ?? 'http://127.0.0.1:4000', token: read.HOLDFAST_TOKEN ?? null };
}

/** An empty variable counts as absent, as in most shells' scripts. */
function parse<S extends z.ZodType>(schema: S, environment: Environment): z.output<S> {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const faults = result.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
  throw new ConfigError(`the configuration can't be used:\n${faults.join('\n')}`);
}
