import { APPEND } from './append-events.ts';
import { LOCK } from './lock.ts';
import { READ } from './read-state.ts';
import { WRITE } from './write.ts';

const NAMES: ReadonlyMap<string, string> = new Map([LOCK, READ, WRITE, APPEND].map(({ name, sql }) => [sql, name]));

/** The name under which an engine connection prepares a text; undefined for texts that are not the engine's. */
export function statementName(sql: string): string | undefined {
  return NAMES.get(sql);
}
