import { tasksOf, type Amount } from '../fleet/amount';
import type { UnitProgress } from '../fleet/unit';
import { plural } from '../text';

/** Where the updates of a phase stand, against its success criterion (DESIGN §5, "Phases"). */
export type Progress =
  | { readonly kind: 'going' }
  | { readonly kind: 'met' }
  /** Tasks were updated and do not live: the change is at fault, as with an unhealthy verdict. */
  | { readonly kind: 'not-live'; readonly reason: string }
  /** The push type gave up before updating: not the change's fault. */
  | { readonly kind: 'stuck'; readonly reason: string };

/** Judges the counts of all units of a phase together. Tasks that are gone leave the denominator. */
export function judgeProgress(units: readonly UnitProgress[], success: Amount): Progress {
  const total = sum(units, (unit) => unit.targeted - unit.gone);
  const required = tasksOf(success, total);
  const live = sum(units, (unit) => unit.live);
  if (live >= required) return { kind: 'met' };
  const failed = units.filter((unit) => unit.state === 'failed');
  const lost = sum(failed, (unit) => unit.targeted - unit.gone - unit.live);
  const unreachable = sum(
    units.filter((unit) => unit.state !== 'failed'),
    (unit) => (unit.state === 'done' ? unit.unreachable : 0),
  );
  if (total - lost - unreachable >= required) return { kind: 'going' };
  return explain(failed, unreachable, `${plural(live, 'task')} live of ${required} needed`);
}

/** What an expired update timeout means: tasks that came up dead are a bad change, tasks never updated are not. */
export function judgeTimeout(units: readonly UnitProgress[]): Exclude<Progress, { kind: 'going' | 'met' }> {
  const notLive = sum(units, notLiveOf);
  if (notLive > 0) return { kind: 'not-live', reason: `${plural(notLive, 'task')} updated in time but not live` };
  const pending = sum(units, pendingOf);
  const unreachable = sum(units, (unit) => unit.unreachable);
  const reasons = units.flatMap((unit) => (unit.reason ? [`${unit.id}: ${unit.reason}`] : []));
  const text = [`${plural(pending, 'task')} not updated in time`, ...unreachableText(unreachable), ...reasons];
  return { kind: 'stuck', reason: text.join('; ') };
}

const pendingOf = ({ targeted, gone, updated }: UnitProgress): number => Math.max(0, targeted - gone - updated);

/** Unreachable tasks that must have been updated before, since fewer are pending, may live or not: they are no evidence. */
function notLiveOf(unit: UnitProgress): number {
  const updatedBefore = Math.max(0, unit.unreachable - pendingOf(unit));
  return Math.max(0, unit.updated - unit.live - updatedBefore);
}

function explain(failed: readonly UnitProgress[], unreachable: number, missing: string): Progress {
  const reasons = failed.map(({ id, reason }) => (reason ? `${id}: ${reason}` : id));
  const text = [missing, ...unreachableText(unreachable), ...reasons].join('; ');
  const dead = sum(failed, (unit) => unit.failed);
  return dead > 0 ? { kind: 'not-live', reason: text } : { kind: 'stuck', reason: text };
}

const unreachableText = (tasks: number): string[] => (tasks > 0 ? [`${plural(tasks, 'task')} unreachable`] : []);

const sum = (units: readonly UnitProgress[], of: (unit: UnitProgress) => number): number =>
  units.reduce((total, unit) => total + of(unit), 0);
