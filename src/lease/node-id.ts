/** The forms of ids, sessions and nonces. Exact match only: no folding, no trimming, no wildcards. */

const ID = /^[a-z0-9][a-z0-9-]*$/;
const LONGEST = 200;

/** Ids of nodes, people, agents and tenants: small letters, digits and dashes, at most 200 characters. */
export function isId(value: string): boolean {
  return value.length <= LONGEST && ID.test(value);
}

/** Sessions and nonces: 1 to 200 characters without control characters, and text that can be encoded. */
export function isRunName(value: string): boolean {
  return isLine(value, LONGEST);
}

/** Why something was done: a line of at most 1000 characters. */
export function isReason(value: string): boolean {
  return isLine(value, 1_000);
}

/** Text on one line that can be stored and shown. A character may be two units long. */
export function isLine(value: string, longest: number): boolean {
  const fits = value.length <= longest || (value.length <= 2 * longest && [...value].length <= longest);
  return value.length >= 1 && fits && value.isWellFormed() && !/\p{Cc}/u.test(value);
}
