import type { Caller } from './command.ts';
import type { EventKind } from './event.ts';
import { type Hold, withEnd } from './lease.ts';

/** How a lease in force goes on under its own holder: the fence stays, the agent is the last that called. */

export interface Kept {
  readonly hold: Hold;
  /** What happened besides the new horizon; null when nothing did. */
  readonly event: EventKind | null;
}

export interface Binding {
  readonly caller: Caller;
  /** Binds the lease to this run; null leaves the binding. */
  readonly session: string | null;
  /** Only claims carry one; null leaves the nonce. */
  readonly dispatch: string | null;
}

/** Binds an own ordinary lease anew where the call says so. Never touches its end. */
export function rebind(hold: Hold, binding: Binding): Kept {
  const session = binding.session ?? hold.session;
  const dispatch = binding.dispatch ?? hold.dispatch;
  const changed = session !== hold.session || dispatch !== hold.dispatch;
  return { hold: { ...hold, agent: binding.caller.agent, session, dispatch }, event: changed ? 'REBOUND' : null };
}

/**
 * Makes an own reservation an ordinary lease again, to now + ttl. The one place where an end moves back: grace is no
 * lease horizon. Without a session the lease becomes person-scoped.
 */
export function resume(hold: Hold, binding: Binding, now: number, ttlMs: number): Kept {
  const { caller, session, dispatch } = binding;
  const resumed: Hold = { ...hold, reserved: false, agent: caller.agent, session, dispatch };
  return { hold: withEnd(resumed, now + ttlMs), event: 'RESUMED' };
}

/** The heartbeat: an ordinary lease runs at least until now + ttl and is never shortened; a reservation is resumed. */
export function renewOwn(hold: Hold, binding: Binding, now: number, ttlMs: number): Kept {
  if (hold.reserved) return resume(hold, binding, now, ttlMs);
  const kept = rebind(hold, binding);
  return { ...kept, hold: withEnd(kept.hold, Math.max(hold.expiresAt, now + ttlMs)) };
}
