import { plural } from '../text';

/** A unit that was part of a deploy and that the push type no longer lists: the deploy cannot update it any further, and reports that. */
export interface UnlistedUnit {
  readonly id: string;
  /** The version before the deploy. */
  readonly version: string | null;
  /** The number of its tasks on the version of the deploy; left out if the push type does not say. */
  readonly tasks?: { readonly updated: number; readonly size: number };
}

export interface UnlistedUnits {
  readonly count: number;
  /** If there are many, the first ones. */
  readonly units: readonly UnlistedUnit[];
}

/** The number of units that are named and asked about. */
export const NAMED_UNLISTED = 5;

/** Whether some of them are known to have tasks. */
export const haveTasks = ({ units }: UnlistedUnits): boolean =>
  units.some(({ tasks }) => tasks !== undefined && tasks.size > 0);

/** `kvstore-y (3 of 6 tasks run kv:2) and 2 others are not listed any more` */
export function describeUnlisted({ count, units }: UnlistedUnits, version: string): string {
  const names = units.map((unit) => `${unit.id} (${presentWords(unit, version)})`).join(', ');
  const more = count > units.length ? ` and ${plural(count - units.length, 'other')}` : '';
  return `${names}${more} ${count === 1 ? 'is' : 'are'} not listed any more`;
}

function presentWords({ tasks, version: before }: UnlistedUnit, version: string): string {
  if (tasks) return `${tasks.updated} of ${plural(tasks.size, 'task')} run ${version}`;
  return before === null ? 'its version is unknown' : `it ran ${before} before, and its present version is unknown`;
}
