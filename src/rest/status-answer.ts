import { z } from 'zod';
import type { StatusSet } from '../lease/outcome.ts';
import { heartbeatFields, heartbeatJson, lease, leaseJson, type Names } from './wire.ts';

/** The answer of a status change, which may have claimed the node too. */
const refusedClaim = z.object({
  error: z.enum(['already_claimed', 'limit_reached']).describe('Why the node was not claimed.'),
  holder: z.string().optional().describe('The id of the person who holds it.'),
});

export const statusSet = z
  .object({
    status: z.literal('updated').describe('What was done.'),
    id: z.string().describe('The node.'),
    revision: z.string().describe('The revision of the node after it, a decimal number.'),
    warnings: z.array(z.string()).describe('What the caller should know: that someone else is at work on the node.'),
    lease: z
      .union([lease, refusedClaim])
      .optional()
      .describe(
        'With an active status: the lease of the caller, or why there is none. The status stands all the same.',
      ),
    expires_in_ms: heartbeatFields.expires_in_ms.optional(),
    renew_after_ms: heartbeatFields.renew_after_ms,
  })
  .meta({ id: 'StatusSet', description: 'The node has the status.' });

type StatusJson = z.output<typeof statusSet>;

/** A refused claim leaves the status change standing, and says why in place of the lease. */
export function statusJson(id: string, { revision, warnings, claim }: StatusSet, names: Names): StatusJson {
  const answer = { status: 'updated' as const, id, revision: String(revision), warnings: [...warnings] };
  if (claim === null) return answer;
  if (claim.kind === 'held') return { ...answer, lease: leaseJson(claim.lease, names), ...heartbeatJson(claim.lease) };
  const error = claim.code === 'limit_reached' ? 'limit_reached' : 'already_claimed';
  return { ...answer, lease: { error, ...(claim.holder !== null && { holder: claim.holder.holder }) } };
}
