import { STATE_LIMITS } from '../limits';
import { jsonBytes } from '../size';
import { listSnapshotIds, type Pages, type Snapshot } from './snapshot';

/**
 * The units that a deploy held, as its worker saw them. If they are few, their ids; otherwise the place of their pages (docs/adr/0018), and `some` of
 * them, which stay known after Temporal has deleted the pages.
 */
export type HeldUnits = { readonly ids: readonly string[] } | (Pages & { readonly some?: readonly string[] });

/** The facts about the deploy that a rollback restores or an undeploy removes, for one action. */
export interface RestoredDeploy {
  /** Missing if it is not known. */
  readonly held?: HeldUnits;
  /** It is good only according to an import, so it has to pass all rules, as a release does. */
  readonly imported?: true;
}

/** The rights of a rollback: only a rollback to a version that a worker saw is exempt from the rules. */
export const toRollbackRights = (isRollback: boolean, imported: true | undefined): { back?: true; imported?: true } =>
  isRollback ? { back: true, ...(imported ? { imported } : {}) } : {};

export const areFewIds = (ids: readonly string[]): boolean => jsonBytes(ids) <= STATE_LIMITS.heldIds.max;

/** Undefined if the units are many and there is no copy of them. */
export function buildHeldUnits(now: Snapshot, some: readonly string[] = []): HeldUnits | undefined {
  const ids = listSnapshotIds(now);
  if (ids && areFewIds(ids)) return { ids };
  const pages = 'units' in now ? now.copy : now;
  return pages && { ...pages, ...(some.length > 0 ? { some } : {}) };
}
