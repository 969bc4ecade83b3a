import { STATE_LIMITS } from '../limits';
import { jsonBytes } from '../size';
import type { Snapshot } from './snapshot';

/** Which units a deploy held, as its worker saw them: by id where they are few, else where they are kept (docs/adr/0018). */
export type HeldUnits = { readonly ids: readonly string[] } | Extract<Snapshot, { readonly at: string }>;

/** What a rollback restores of a deploy action. */
export interface Restored {
  /** Missing where it is not known. */
  readonly held?: HeldUnits;
  /** An import alone calls it good: then it is held against all rules, as a release is. */
  readonly imported?: true;
}

/** Of a rollback, for whom it acts: only back to what a worker saw goes past the rules. */
export const backOf = (isRollback: boolean, imported: true | undefined): { back?: true; imported?: true } =>
  isRollback ? { back: true, ...(imported ? { imported } : {}) } : {};

/** Undefined where they are many, and yet too few to be kept apart: then they are not known. */
export function heldUnits(now: Snapshot): HeldUnits | undefined {
  if (!('units' in now)) return now;
  const ids = now.units.map(({ id }) => id);
  return jsonBytes(ids) > STATE_LIMITS.heldIds.max ? undefined : { ids };
}
