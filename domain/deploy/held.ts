import { STATE_LIMITS } from '../limits';
import { jsonBytes } from '../size';
import { idsOf, type Pages, type Snapshot } from './snapshot';

/**
 * The units that a deploy held, as its worker saw them: their ids if they are few, else where they are kept (docs/adr/0018), and `some` of them,
 * which stay known after Temporal has forgotten the rest.
 */
export type HeldUnits = { readonly ids: readonly string[] } | (Pages & { readonly some?: readonly string[] });

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

export const areFewIds = (ids: readonly string[]): boolean => jsonBytes(ids) <= STATE_LIMITS.heldIds.max;

/** Undefined for many units of a deploy that began before 0.3, which kept no copy of them. */
export function heldUnits(now: Snapshot, some: readonly string[] = []): HeldUnits | undefined {
  const ids = idsOf(now);
  if (ids && areFewIds(ids)) return { ids };
  const pages = 'units' in now ? now.copy : now;
  return pages && { ...pages, ...(some.length > 0 ? { some } : {}) };
}
