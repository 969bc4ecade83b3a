/** The overrides of one path, in the order of their ids. */

interface OverrideIdentity {
  readonly id: string;
}

/** Adds an override, or replaces the one with the same id. */
export const putAmong = <T extends OverrideIdentity>(others: readonly T[], override: T): T[] =>
  [...withoutOverride(others, override.id), override].sort((a, b) => (a.id < b.id ? -1 : 1));

export const withoutOverride = <T extends OverrideIdentity>(others: readonly T[], id: string): T[] =>
  others.filter((other) => other.id !== id);
