import { invalidInput, type Refusal } from '../lease/refusal.ts';
import type { builder } from './builder.ts';

/** Fields that several inputs share, each described once. */
type Fields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0];

export const nodeIdField = (t: Fields) => t.id({ required: true, description: 'The id of the node.' });

export const nodeIdsField = (t: Fields) =>
  t.idList({ required: true, description: 'The ids of the nodes. A duplicate counts once; an empty list is nothing.' });

export const sessionField = (t: Fields) =>
  t.string({ description: 'The run to bind the lease to. Leave it out to leave the binding as it is.' });

export const fenceField = (t: Fields) =>
  t.string({
    description:
      'Act only if this is still the fence of the lease in force; then nothing is ever reclaimed. A decimal string.',
  });

/** A fence as it came: a decimal string, or none. */
export function parseFence(fence: string | null | undefined): bigint | null | Refusal {
  if (fence == null) return null;
  return /^\d{1,100}$/.test(fence) ? BigInt(fence) : invalidInput('fence', 'fence must be a decimal string.');
}
