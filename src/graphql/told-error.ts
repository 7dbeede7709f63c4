import { GraphQLError, type GraphQLErrorExtensions } from 'graphql';
import type { Logger } from 'pino';
import { isOutage } from '../db/outage.ts';
import { outageOnTheWay, Unavailable } from '../engine/unavailable.ts';
import { AdminFault } from '../identity/admin-fault.ts';

/**
 * What a caller may know of an error: what they can act on. A fault of ours is logged and named no further.
 * @param requestId undefined where an error comes up outside the execution of a document
 */
export function toldError(error: unknown, log: Logger, requestId?: string): GraphQLError {
  if (!(error instanceof GraphQLError)) return fault(error, log, requestId);
  const { originalError: original } = error;
  if (original === undefined || original === null || original instanceof GraphQLError) return withCode(error);
  if (original instanceof AdminFault) return inPlace(error, original.message, { code: original.code });
  const outage = original instanceof Unavailable ? original : isOutage(original) ? outageOnTheWay(original) : null;
  if (outage === null) return inPlace(error, ...told(fault(original, log, requestId)));
  log.warn({ err: outage, requestId }, 'a call was not answered');
  return inPlace(error, outage.message, { code: 'UNAVAILABLE', retryAfterMs: outage.retryAfterMs });
}

/** What the library refuses without a code of its own: variables and global ids of the wrong form. */
function withCode(error: GraphQLError): GraphQLError {
  const { message, extensions } = error;
  return extensions.code === undefined ? inPlace(error, message, { ...extensions, code: 'INVALID_INPUT' }) : error;
}

const told = ({ message, extensions }: GraphQLError) => [message, extensions] as const;

function fault(error: unknown, log: Logger, requestId: string | undefined): GraphQLError {
  log.error({ err: error, requestId }, 'a call failed');
  const message = 'Something went wrong here. The call may be repeated; if it fails again, tell the operator.';
  return new GraphQLError(message, { extensions: { code: 'INTERNAL', ...(requestId !== undefined && { requestId }) } });
}

/** Another error at the same place of the document. */
function inPlace({ nodes, path }: GraphQLError, message: string, extensions: GraphQLErrorExtensions): GraphQLError {
  return new GraphQLError(message, { nodes: nodes ?? null, path: path ?? null, extensions });
}
