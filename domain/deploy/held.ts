import { STATE_LIMITS } from '../limits';
import { jsonBytes } from '../size';
import type { Snapshot } from './snapshot';

/** The units that a deploy held, as its worker saw them: their ids if they are few, else where they are kept (docs/adr/0018). */
export type HeldUnits = { readonly ids: readonly string[] } | Extract<Snapshot, { readonly at: string }>;

/** What a rollback restores of a deploy action. */
export interface Restored {
  /** Missing if it is not known. */
  readonly held?: HeldUnits;
  /** Only an import calls it good: then it has to pass all rules, as a release does. */
  readonly imported?: true;
}

/** For whom a rollback acts: only a rollback to what a worker saw goes past the rules. */
export const backOf = (isRollback: boolean, imported: true | undefined): { back?: true; imported?: true } =>
  isRollback ? { back: true, ...(imported ? { imported } : {}) } : {};

/** Undefined if there are many, but too few to be kept apart: then they are not known. */
export function heldUnits(now: Snapshot): HeldUnits | undefined {
  if (!('units' in now)) return now;
  const ids = now.units.map(({ id }) => id);
  return jsonBytes(ids) > STATE_LIMITS.heldIds.max ? undefined : { ids };
}
