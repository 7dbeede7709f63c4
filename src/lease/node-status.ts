/** Which node types carry a lease, and which words their status may be set to. */

/** The types that are work: only these carry a lease and stand in the queue. */
export const WORK_TYPES = [
  'task',
  'issue',
  'incident',
  'question',
  'capture-pending',
  'finding',
  'workflow',
  'workflow-run',
] as const;

/** Setting one of these claims the node for the caller. */
const ACTIVE_STATUSES = ['active', 'open', 'in-progress'] as const;

/** Work in one of these is over: it can't be granted, though a lease in force runs on. */
export const TERMINAL_STATUSES = [
  'abandoned',
  'answered',
  'closed',
  'completed',
  'deprecated',
  'dismissed',
  'done',
  'merged',
  'rejected',
  'resolved',
  'retired',
  'superseded',
] as const;

/** A node without a status counts as this. */
export const DEFAULT_STATUS = 'open';

const WORK: ReadonlySet<string> = new Set(WORK_TYPES);
const ACTIVE: ReadonlySet<string> = new Set(ACTIVE_STATUSES);
const TERMINAL: ReadonlySet<string> = new Set(TERMINAL_STATUSES);

/** The narrower vocabularies; other work types take every active and terminal word. */
const VOCABULARY: Readonly<Record<string, readonly string[]>> = {
  task: ['open', 'active', 'in-progress', 'done', 'abandoned'],
  issue: ['open', 'active', 'in-progress', 'resolved'],
  question: ['open', 'answered'],
};
const WORK_VOCABULARY: readonly string[] = [...ACTIVE_STATUSES, ...TERMINAL_STATUSES];
const FREE_WORD = /^[a-z0-9][a-z0-9-]*$/;

export const isWorkType = (type: string): boolean => WORK.has(type);
export const isActive = (status: string): boolean => ACTIVE.has(status);
export const isTerminal = (status: string | null): boolean => TERMINAL.has(status ?? DEFAULT_STATUS);

/** The words a status of this type may be set to; null for types whose words are free. */
export function statusVocabulary(type: string): readonly string[] | null {
  return isWorkType(type) ? (VOCABULARY[type] ?? WORK_VOCABULARY) : null;
}

/** Whether a status change to this word is allowed. Import and creation store what they are given instead. */
export function mayTakeStatus(type: string, status: string): boolean {
  const words = statusVocabulary(type);
  return words === null ? FREE_WORD.test(status) && status.length <= 200 : words.includes(status);
}
