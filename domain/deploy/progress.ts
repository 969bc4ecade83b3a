import { tasksOf, type Amount } from '../fleet/amount';
import type { UnitProgress } from '../fleet/unit';
import { plural } from '../text';

/** The progress of the updates of a phase towards its success criterion (docs/design/deploy.md#phases). */
export type Progress =
  | { readonly kind: 'going' }
  | { readonly kind: 'met' }
  /** Tasks were updated and are not live: the change is at fault, as with an unhealthy verdict. */
  | { readonly kind: 'not-live'; readonly reason: string }
  /**
   * The push type gave up before the update, which is not the fault of the change. `denied`: the push type contradicts itself about
   * the end.
   */
  | { readonly kind: 'stuck'; readonly reason: string; readonly denied?: true };

/** The treatment of unreachable tasks once their unit is done: a phase waits for them, a revert does not. */
export type Unreachable = 'waits' | 'ends';

/** Judges the counts of all units of a phase together. Tasks that are gone leave the denominator. */
export function judgeProgress(
  units: readonly UnitProgress[],
  success: Amount,
  unreachableOnes: Unreachable = 'waits',
): Progress {
  const total = sumProgress(units, countPresentTasks);
  const required = tasksOf(success, total);
  const live = sumProgress(units, (unit) => Math.min(unit.live, countPresentTasks(unit)));
  if (live >= required) return { kind: 'met' };
  const failed = units.filter((unit) => unit.state === 'failed');
  const lost = sumProgress(failed, countMissingTasks);
  const given = unreachableOnes === 'ends' ? units.filter(({ state }) => state === 'done') : [];
  const unreachable = sumProgress(given, (unit) => unit.unreachable);
  if (total - lost - unreachable >= required) return { kind: 'going' };
  return explain(failed, unreachable, `${plural(live, 'task')} live of ${required} needed`);
}

/**
 * The meaning of an expired update timeout: tasks that came up dead are a bad change, tasks that were never updated are
 * not.
 */
export function judgeTimeout(units: readonly UnitProgress[]): Exclude<Progress, { kind: 'going' | 'met' }> {
  const notLive = sumProgress(units, countNotLive);
  if (notLive > 0) return { kind: 'not-live', reason: `${plural(notLive, 'task')} updated in time but not live` };
  const pending = sumProgress(units, countPendingTasks);
  const unreachable = sumProgress(units, (unit) => unit.unreachable);
  const reasons = few(units.flatMap((unit) => (unit.reason ? [`${unit.id}: ${unit.reason}`] : [])));
  const text = [`${plural(pending, 'task')} not updated in time`, ...unreachableText(unreachable), ...reasons];
  return { kind: 'stuck', reason: text.join('; ') };
}

/**
 * Never below 0: if a unit counts more tasks as gone than it has, that must not offset tasks that another unit lacks.
 */
const countPresentTasks = ({ targeted, gone }: UnitProgress): number => Math.max(0, targeted - gone);

const countPendingTasks = ({ targeted, gone, updated }: UnitProgress): number => Math.max(0, targeted - gone - updated);

/**
 * If fewer tasks are pending than unreachable, some unreachable tasks were updated before. They may be live or not, so they are no
 * evidence.
 */
function countNotLive(unit: UnitProgress): number {
  const updatedBefore = Math.max(0, unit.unreachable - countPendingTasks(unit));
  return Math.max(0, unit.updated - unit.live - updatedBefore);
}

function explain(failed: readonly UnitProgress[], unreachable: number, missing: string): Progress {
  const reasons = few(failed.map(({ id, reason }) => (reason ? `${id}: ${reason}` : id)));
  const text = [missing, ...unreachableText(unreachable), ...reasons].join('; ');
  const dead = sumProgress(failed, (unit) => unit.failed);
  return dead > 0 ? { kind: 'not-live', reason: text } : { kind: 'stuck', reason: text };
}

const SHOWN_REASONS = 5;

/** The first reasons, if there are many. */
function few(reasons: readonly string[]): string[] {
  const more = reasons.length - SHOWN_REASONS;
  return [...reasons.slice(0, SHOWN_REASONS), ...(more > 0 ? [`and ${plural(more, 'more unit')}`] : [])];
}

const unreachableText = (tasks: number): string[] => (tasks > 0 ? [`${plural(tasks, 'task')} unreachable`] : []);

const sumProgress = (units: readonly UnitProgress[], of: (unit: UnitProgress) => number): number =>
  units.reduce((total, unit) => total + of(unit), 0);

/** The results of earlier tries of a phase. */
export interface Earlier {
  /** The update id of the first try. */
  readonly first: string;
  /** The results just before the next try was sent. */
  readonly units: readonly UnitProgress[];
}

/**
 * The progress of a phase that was tried before. A later try targets only the tasks that are still outdated. So by itself it does not
 * show the tasks that an earlier try updated but that never became live.
 * @param first the present progress of the first try: it counts each of its tasks on the version, even if a later update brought it
 * there.
 */
export function withEarlier(
  before: readonly UnitProgress[],
  first: readonly UnitProgress[],
  now: readonly UnitProgress[],
): UnitProgress[] {
  const [earlier, whole] = [byId(before), byId(first)];
  return now.map((unit) => {
    const sum = addProgress(earlier.get(unit.id), unit);
    const { id, state, reason, ...counts } = whole.get(unit.id) ?? sum;
    return countMissingTasks(counts) <= countMissingTasks(sum) ? { ...sum, ...counts } : sum;
  });
}

const byId = (units: readonly UnitProgress[]): Map<string, UnitProgress> =>
  new Map(units.map((unit) => [unit.id, unit]));

/** The progress of a unit that is removed, as if its tasks were updated by being gone. */
export const countGone = ({ gone, ...unit }: UnitProgress): UnitProgress => ({
  ...unit,
  ...{ updated: gone, live: gone, gone: 0 },
});

/** The missing tasks of a phase: they exist but are not live on the version. */
export const countMissingTasks = ({ targeted, gone, live }: Pick<UnitProgress, 'targeted' | 'gone' | 'live'>): number =>
  Math.max(0, targeted - gone - live);

/** The number of tasks in finished units that have not left their old version: no update will reach them any more. */
export const countUntouchedTasks = (units: readonly UnitProgress[]): number =>
  sumProgress(units, (unit) => (unit.state === 'done' ? Math.max(0, countPendingTasks(unit) - unit.unreachable) : 0));

/** A task that was missing and is not targeted again counts as unreachable. */
function addProgress(before: UnitProgress | undefined, now: UnitProgress): UnitProgress {
  if (before === undefined) return now;
  const unwanted = Math.max(0, countMissingTasks(before) - now.targeted);
  return {
    ...now,
    targeted: before.live + now.targeted + unwanted,
    updated: before.live + now.updated,
    live: before.live + now.live,
    unreachable: now.unreachable + unwanted,
  };
}
