import { z } from 'zod';
import type { Caller, Edge, PutNode } from '../lease/command.ts';
import { isId } from '../lease/node-id.ts';

/**
 * A node as it is handed in, by either door and by the import: snake case, as files and REST have it. Stored as given,
 * so only what can't be stored or can't be told apart is refused.
 */
const text = (most: number) => z.string().max(most).refine(isStorable, 'must not have NUL or half characters');
const word = (most = 200) =>
  text(most)
    .min(1)
    .refine((value) => !/\p{Cc}/u.test(value), 'must not have control characters');
const id = z
  .string()
  .refine(isId, 'must be an id: small letters, digits and dashes, at most 200, not starting with a dash');
const kind = z
  .string()
  .max(200)
  .regex(/^[a-z0-9][a-z0-9-]*$/, 'must be small letters, digits and dashes');

const nodeInput = z.object({
  id,
  type: kind,
  title: text(10_000).nullish(),
  status: word().nullish(),
  project: word().nullish(),
  priority: word().nullish(),
  summary: text(100_000).nullish(),
  body: text(1_000_000).nullish(),
  date: word().nullish(),
  needed_by: word().nullish(),
  extra: z.record(z.string(), z.unknown()).refine(isStorable, 'must not have NUL or half characters').nullish(),
  edges: z
    .array(z.object({ type: kind, to: id }))
    .max(10_000)
    .nullish(),
  steward_ids: z.array(id).max(1_000).nullish(),
});

export type IfExists = PutNode['ifExists'];

/**
 * The command that puts this node, or what is wrong with it.
 * @param raw any JSON value
 */
export function toPutNode(raw: unknown, caller: Caller, ifExists: IfExists): PutNode | { readonly error: string } {
  const read = nodeInput.safeParse(raw);
  if (!read.success) {
    return {
      error: read.error.issues.map((issue) => `${issue.path.join('.') || 'node'}: ${issue.message}`).join('; '),
    };
  }
  const { id: nodeId, type, needed_by, extra, edges, steward_ids, ...rest } = read.data;
  const outgoing: Edge[] = (edges ?? []).map((edge) => ({ from: nodeId, ...edge }));
  const stewards: Edge[] = (steward_ids ?? []).map((person) => ({ from: person, type: 'stewards', to: nodeId }));
  const fields = { type, ...rest, neededBy: needed_by, extra: extra ?? undefined };
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return {
    verb: 'put-node',
    nodeId,
    caller,
    fields: given as unknown as PutNode['fields'],
    edges: [...outgoing, ...stewards],
    ifExists,
  };
}

/** PostgreSQL stores no NUL, and half a surrogate pair is no character. Looks into JSON values too. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => isStorable(key) && isStorable(inner));
}
