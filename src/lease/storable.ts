/** How deep a value may be nested: far beyond any use, and far above what ends in a stack that overflows. */
const DEEPEST = 100;

/**
 * Whether text can be stored and told apart: PostgreSQL stores no NUL, and half a surrogate pair is no character. Looks
 * into JSON values too, which may be nested 100 levels deep. What can't be stored is also what nothing stored can equal.
 */
export function isStorable(value: unknown): boolean {
  return isStorableWithin(value, DEEPEST);
}

function isStorableWithin(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  return (
    levels > 0 && Object.entries(value).every(([key, inner]) => isStorable(key) && isStorableWithin(inner, levels - 1))
  );
}
