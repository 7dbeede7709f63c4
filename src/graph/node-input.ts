import { z } from 'zod';
import type { Caller, Edge, PutNode } from '../lease/command.ts';
import { isId } from '../lease/node-id.ts';
import { isStorable } from '../lease/storable.ts';

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

export const nodeInput = z
  .object({
    id: id.describe('The id of the node: small letters, digits and dashes, at most 200 characters.'),
    type: kind.describe('What it is. Only work carries a lease: task, issue, question and so on.'),
    title: text(10_000).nullish().describe('What it is called.'),
    status: word().nullish().describe('Stored as given, and claims nothing. None counts as open.'),
    project: word().nullish().describe('The project it belongs to.'),
    priority: word().nullish().describe('How urgent it is.'),
    summary: text(100_000).nullish().describe('What it is about, in short.'),
    body: text(1_000_000).nullish().describe('Its text, as markdown.'),
    date: word().nullish().describe('A date of its own, as it was written.'),
    needed_by: word().nullish().describe('The date by which it is needed, as it was written.'),
    extra: z
      .record(z.string(), z.unknown())
      .refine(isStorable, 'must not have NUL or half characters, nor be nested over 100 levels deep')
      .nullish()
      .describe('Further front matter, stored as it comes.'),
    edges: z
      .array(
        z.object({
          type: kind.describe('What the edge says, such as blocks or assigned.'),
          to: id.describe('The id of the node, or of the person, that it points at.'),
        }),
      )
      .max(10_000)
      .nullish()
      .describe('The edges that leave it. An update adds these and removes none.'),
    steward_ids: z.array(id).max(1_000).nullish().describe('The ids of the people who look after it.'),
  })
  .meta({ id: 'NodeInput', description: 'A node as it is handed in. On update, absent fields stay as they are.' });

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
