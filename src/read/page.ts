import { isStorable } from '../lease/storable.ts';

/** One page of a list, by keyset: each row has a cursor, and the next page begins behind the last one's. */
export interface Page<T> {
  readonly rows: readonly { readonly item: T; readonly cursor: string }[];
  readonly hasMore: boolean;
}

/** Up to where a total is counted. */
export const MOST_COUNTED = 10_000;

export interface Total {
  readonly count: number;
  /** Whether there are more than were counted. */
  readonly capped: boolean;
}

/** A cursor that is none of ours, or of another list. */
export class InvalidCursor extends Error {
  override readonly name = 'InvalidCursor';

  constructor() {
    super('The cursor is not one of this list. Send one that a page of it gave, or none to begin.');
  }
}

/** Opaque to callers. Nothing is kept by it on the server, and it names nothing that its owner could not ask for. */
export function encodeCursor(list: string, parts: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify([list, ...parts])).toString('base64url');
}

/**
 * The parts of a cursor, each of the type that is asked for.
 * @throws InvalidCursor
 */
export function decodeCursor<K extends 'number' | 'string'>(
  list: string,
  cursor: string,
  types: readonly K[],
): readonly (K extends 'number' ? number | string : string)[] {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    throw new InvalidCursor();
  }
  const fits =
    Array.isArray(parts) &&
    parts[0] === list &&
    parts.length === types.length + 1 &&
    types.every((type, index) => typeof parts[index + 1] === type && isPart(parts[index + 1]));
  if (!fits) throw new InvalidCursor();
  return (parts as never[]).slice(1);
}

function isPart(part: unknown): boolean {
  if (typeof part === 'number') return Number.isSafeInteger(part) && Math.abs(part) < 8e15;
  return typeof part === 'string' && isStorable(part);
}

/** Cuts the one row more that was read to know whether there are more. */
export function toPage<T>(items: readonly T[], limit: number, cursorOf: (item: T) => string): Page<T> {
  const rows = items.slice(0, limit).map((item) => ({ item, cursor: cursorOf(item) }));
  return { rows, hasMore: items.length > limit };
}
