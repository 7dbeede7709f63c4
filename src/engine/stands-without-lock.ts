import type { Claim, Command } from '../lease/command.ts';
import type { Lease } from '../lease/lease.ts';
import type { Outcome } from '../lease/outcome.ts';

/**
 * Whether an outcome may be told though the node's lease row was not locked. The row is then as it was last committed,
 * and a transaction in flight may be about to change it. Only those refusals stand that the lock statement leaves rows
 * out for, on grounds that such a transaction can't take away unseen: another person's lease in force, a fence that is
 * gone for ever, a node that can't be granted. Everything else is busy, and is neither told as lost nor as free.
 */
export function standsWithoutLock(command: Command, lease: Lease, outcome: Outcome): boolean {
  // No grant has fence 0, and no lease row is there to lock for a node that never was.
  if (outcome.kind === 'swept' && command.verb === 'expire')
    return outcome.found === 'gone' && (lease.fence !== command.fence || command.fence === 0n);
  if (outcome.kind !== 'refused' || command.verb === 'expire') return false;
  switch (outcome.code) {
    case 'not_found':
    case 'invalid_node':
    case 'transition_denied':
      return true;
    case 'not_ready':
      return lease.hold?.holder !== command.caller.person;
    case 'conflict':
    case 'lease_lost':
      if (outcome.holder !== null && outcome.holder.holder !== command.caller.person) return true;
      if (command.verb === 'claim') return isAnotherLaunch(command, lease);
      return (
        'fence' in command && command.verb !== 'release' && command.fence !== null && command.fence !== lease.fence
      );
    default:
      return false;
  }
}

/** The lock statement leaves out a row that another launch of the caller's holds. */
function isAnotherLaunch({ dispatch, force }: Claim, { hold }: Lease): boolean {
  return !force && dispatch !== null && hold !== null && hold.dispatch !== null && hold.dispatch !== dispatch;
}
