import { createHash, randomBytes } from 'node:crypto';
import { isId } from '../lease/node-id.ts';

/**
 * Tokens: `hf_<tenant>_<secret>`. The tenant in front makes each look-up a look-up by key. The secret is 32 random
 * bytes, shown once; what is stored is the sha-256 of the whole token.
 */
export interface NewToken {
  /** Shown once, never stored. */
  readonly token: string;
  readonly hash: Uint8Array<ArrayBuffer>;
}

export function newToken(tenantId: string): NewToken {
  const token = `hf_${tenantId}_${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashToken(token) };
}

export function hashToken(token: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(token, 'utf8').digest());
}

/** The tenant that a token names, or null for what is no token of ours. Nothing is proved by it. */
export function tenantOf(token: string): string | null {
  const match = /^hf_([a-z0-9-]+)_[A-Za-z0-9_-]{16,200}$/.exec(token);
  return match?.[1] !== undefined && isId(match[1]) ? match[1] : null;
}

/** A name for a token that tells nothing of its secret. */
export function newTokenId(): string {
  return `tok-${randomBytes(8).toString('hex')}`;
}
