import type { Command } from './command.ts';
import { isId, isReason, isRunName } from './node-id.ts';
import { invalidInput, type Refusal } from './refusal.ts';

/**
 * The form of a command, asked before anything is looked up: the body first, then the id. Both doors rely on it, so
 * that a malformed call is refused with the same words everywhere.
 * @returns the refusal, or null for a well-formed command
 */
export function refuseMalformed(command: Command): Refusal | null {
  if ('session' in command && command.session !== null && !isRunName(command.session)) return badRunName('session');
  if ('dispatch' in command && command.dispatch !== null && !isRunName(command.dispatch)) return badRunName('dispatch');
  if (command.verb === 'extend' && !isStretch(command.ms)) {
    return invalidInput('ms', 'ms must be a finite number above 0, in milliseconds.');
  }
  if (command.verb === 'add-edge' || command.verb === 'remove-edge') {
    // Types of edges have the form of ids.
    if (!isId(command.edge.type)) return badKind('type');
    if (!isId(command.edge.to)) return malformedId('to', command.edge.to);
  }
  if (command.verb === 'break' && command.reason !== null && !isReason(command.reason)) {
    return invalidInput('reason', 'reason must be 1 to 1000 characters without control characters.');
  }
  return isId(command.nodeId) ? null : malformedId('nodeId', command.nodeId);
}

/** Whether `extend` can take this: a finite number above 0. */
function isStretch(ms: unknown): boolean {
  return typeof ms === 'number' && Number.isFinite(ms) && ms > 0;
}

function badKind(field: string): Refusal {
  return invalidInput(
    field,
    `${field} must be small letters, digits and dashes, at most 200, not starting with a dash.`,
  );
}

function badRunName(field: string): Refusal {
  return invalidInput(field, `${field} must be 1 to 200 characters without control characters. Leave it out for none.`);
}

/** @param id shown as it came, shortened, with what can't be printed escaped */
export function malformedId(field: string, id: string): Refusal {
  const shown = JSON.stringify(id.length > 80 ? `${id.slice(0, 80)}…` : id);
  return invalidInput(
    field,
    `${shown} is no id: use small letters, digits and dashes, at most 200, not starting with a dash.`,
  );
}
