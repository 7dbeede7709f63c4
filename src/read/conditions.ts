import { isStorable } from '../lease/storable.ts';

/** The conditions of a filter, with their parameters numbered as they come. */
export interface Conditions {
  /** Adds a condition; `?` stands for the value. Nothing is added for null and undefined. */
  add(condition: string, value: unknown): Conditions;
  /** Takes a parameter without a condition, and says how the text names it. */
  parameter(value: unknown): string;
  readonly where: string;
  readonly parameters: readonly unknown[];
}

export function conditions(first: string, ...values: readonly unknown[]): Conditions {
  const parameters = [...values];
  const parts = [first];
  const built: Conditions = {
    add(condition, value) {
      if (value === null || value === undefined) return built;
      // Nothing that is stored equals what can't be, and the database would call it a fault.
      const given = Array.isArray(value) ? value.filter(isStorable) : value;
      parts.push(isStorable(given) ? condition.replaceAll('?', built.parameter(given)) : 'false');
      return built;
    },
    parameter(value) {
      parameters.push(value);
      return `$${parameters.length}`;
    },
    get where() {
      return parts.join(' AND ');
    },
    parameters,
  };
  return built;
}
