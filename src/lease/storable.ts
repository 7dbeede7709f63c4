/**
 * Whether text can be stored and told apart: PostgreSQL stores no NUL, and half a surrogate pair is no character. Looks
 * into JSON values too. What can't be stored is also what nothing stored can equal.
 */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, inner]) => isStorable(key) && isStorable(inner));
}
