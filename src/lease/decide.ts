/**
 * The one place of rules: what a command does to the state of its node at a given moment.
 *
 * Pure. `now` is database time in whole ms, read after the node's lock was taken; the caller promises that `state` is
 * what that lock guards. A refusal changes nothing and makes no event.
 */
import { breakLease } from './break.ts';
import { claim } from './claim.ts';
import type { Command } from './command.ts';
import { addEdge, removeEdge } from './edge-by-hand.ts';
import { expire } from './expire.ts';
import { extend } from './extend.ts';
import type { Decision } from './outcome.ts';
import type { Policy } from './policy.ts';
import { putNode } from './put-node.ts';
import { release } from './release.ts';
import { renew } from './renew.ts';
import { reserve } from './reserve.ts';
import { setStatus } from './set-status.ts';
import type { NodeState } from './state.ts';

export function decide(state: NodeState, command: Command, now: number, policy: Policy): Decision {
  switch (command.verb) {
    case 'claim':
      return claim(state, command, now, policy);
    case 'renew':
      return renew(state, command, now, policy);
    case 'extend':
      return extend(state, command, now, policy);
    case 'reserve':
      return reserve(state, command, now, policy);
    case 'release':
      return release(state, command, now);
    case 'set-status':
      return setStatus(state, command, now, policy);
    case 'put-node':
      return putNode(state, command);
    case 'add-edge':
      return addEdge(state, command);
    case 'remove-edge':
      return removeEdge(state, command, now);
    case 'break':
      return breakLease(state, command, now);
    case 'expire':
      return expire(state, command, now);
  }
}
