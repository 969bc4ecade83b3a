import { currentCount } from '../twine/countLog';
import { deployOfUpdate, nameAtIndex, type TwineFleet } from '../twine/fleet';
import type { Job } from '../twine/job';
import type { FleetEvent, TaskEvent } from '../events';
import { countAllowed, type BudgetOf } from './budget';
import { checker } from './checker';

interface JobTraffic extends BudgetOf {
  /** The version to which its requests were shifted; null if unknown, or if the job was resized since. */
  shifted: { readonly version: string; readonly percent: number } | null;
  /**
   * Slots whose task ran or was about to run, and was lost to something other than an update; also slots whose new task
   * has not run yet. With the index of each version.
   */
  readonly lost: Map<number, number>;
  /** Deploys that have updated the job, and those that have shifted its traffic. */
  readonly updatedBy: Set<string>;
  readonly shiftedBy: Set<string>;
}

/**
 * 15: the requests of a job that go to a version never exceed the capacity of its live tasks. A job is built to lose as many tasks as its budget
 * allows, so each task can carry the share of one of the others: with 100 tasks and a budget of 20, a version that gets 40% needs 32 of them. The
 * checker judges at every shift, and whenever a task is taken on purpose. A task that was live or being updated and was lost to a failure or to
 * maintenance counts as carrying, for the version on which it returns. So does a task that a growing job has still to start: no deploy can foresee
 * either, and another invariant guards the budget. The checker skips jobs of a single task, whose requests are lost while it is replaced, and jobs
 * that were resized since the last shift.
 */
export const trafficChecker = checker<Map<string, JobTraffic>>({
  name: 'traffic-carried',
  invariant: 15,
  fresh: () => new Map(),
  see: (event, jobs, fleet) => {
    if (event.kind === 'job-sized') {
      const seen = jobs.get(event.job);
      const { size, budget } = event;
      jobs.set(event.job, { ...(seen ?? unseen()), size, budget, shifted: null });
      return null;
    }
    const seen = 'job' in event ? jobs.get(event.job) : undefined;
    const job = 'job' in event ? fleet.jobs.get(event.job) : undefined;
    if (seen === undefined || job === undefined) return null;
    if (event.kind === 'update-accepted') {
      if (event.urgency === 'normal') seen.updatedBy.add(deployOfUpdate(event.update));
      return null;
    }
    if (event.kind === 'task') return keepLost(fleet, seen, job, event) ? overload(fleet, job, seen) : null;
    return event.kind === 'traffic-shifted' ? recordShift(fleet, job, seen, event) : null;
  },
});

const unseen = (): Omit<JobTraffic, keyof BudgetOf> => ({
  shifted: null,
  lost: new Map(),
  updatedBy: new Set(),
  shiftedBy: new Set(),
});

function recordShift(
  fleet: TwineFleet,
  job: Job,
  seen: JobTraffic,
  event: Extract<FleetEvent, { kind: 'traffic-shifted' }>,
) {
  const { version, percent, deploy } = event;
  const isLate = seen.updatedBy.has(deploy) && !seen.shiftedBy.has(deploy);
  seen.shiftedBy.add(deploy);
  seen.shifted = { version, percent };
  if (isLate) return `${deploy} updated ${job.name} before it said where the requests go`;
  return overload(fleet, job, seen);
}

/** Updates the account of lost tasks. @returns whether the task was taken on purpose, or replaced by the one that started next to it. */
function keepLost(
  fleet: TwineFleet,
  { lost }: JobTraffic,
  job: Job,
  { slot, from, to, why, update }: TaskEvent,
): boolean {
  const isGone = to === 'running' || to === 'gone' || to === 'updating';
  const targetVersion = why === 'update' ? fleet.updates.get(update ?? '')?.units.get(job.name)?.version : undefined;
  if (isGone) lost.delete(slot);
  else if (from === 'running' || why === 'fault' || (from === 'gone' && why === 'resize'))
    lost.set(slot, job.tasks.version[slot] ?? 0);
  else if (targetVersion !== undefined && lost.has(slot)) lost.set(slot, targetVersion);
  return from === 'running' && (why === 'update' || (to === 'running' && why === 'started'));
}

function overload(fleet: TwineFleet, job: Job, seen: JobTraffic): string | null {
  const { shifted, size } = seen;
  if (shifted === null || size < 2) return null;
  const { version, percent } = shifted;
  const index = fleet.indices.get(version) ?? -1;
  const lost = [...seen.lost.values()];
  const lostThere = lost.filter((of) => of === index).length;
  const log = job.runningOf.get(index);
  const running = log === undefined ? 0 : currentCount(log);
  const there = running + lostThere;
  const elsewhere = currentCount(job.running) - running + lost.length - lostThere;
  const needed = size - Math.min(countAllowed(seen), size - 1);
  // Percentages have four decimals.
  const isTooMuch = (share: number, tasks: number): boolean => (share * needed) / 100 > tasks + 1e-6 * size + 1e-9;
  if (isTooMuch(percent, there)) return overloadText(job, percent, nameAtIndex(fleet, index) ?? version, there, needed);
  return isTooMuch(100 - percent, elsewhere)
    ? overloadText(job, 100 - percent, `what is not ${version}`, elsewhere, needed)
    : null;
}

const overloadText = ({ name }: Job, percent: number, to: string, tasks: number, needed: number): string =>
  `${roundPercent(percent)}% of ${name} goes to ${to}, whose tasks (${tasks}) carry ${roundPercent((100 * tasks) / needed)}%`;

const roundPercent = (percent: number): number => Math.round(percent * 10) / 10;
