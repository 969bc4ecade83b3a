import type { FleetEvent } from '../events';
import { checker } from './checker';

/** A job's size, and how many of its tasks may be unavailable. */
export type BudgetOf = Pick<Extract<FleetEvent, { kind: 'job-sized' }>, 'size' | 'budget'>;

interface CountedBudget extends BudgetOf {
  unavailable: number;
}

/** A task that leaves the job for good (`resize`) does not count as unavailable, so it is not here. */
const ON_PURPOSE: ReadonlySet<string> = new Set(['update', 'move', 'stop', 'restart']);

/** 1: no update, move, stop or restart takes a running task if the allowed number of tasks is unavailable already. */
export const budgetChecker = checker<Map<string, CountedBudget>>({
  name: 'budget',
  invariant: 1,
  fresh: () => new Map(),
  see: (event, jobs) => {
    if (event.kind === 'job-sized') {
      const { size, budget } = event;
      jobs.set(event.job, { unavailable: jobs.get(event.job)?.unavailable ?? 0, size, budget });
      return null;
    }
    const job = event.kind === 'task' ? jobs.get(event.job) : undefined;
    if (event.kind !== 'task' || job === undefined) return null;
    job.unavailable += unavailability(event.to) - unavailability(event.from);
    const allowed = countAllowed(job);
    const onPurpose = ON_PURPOSE.has(event.why);
    if (!onPurpose || event.from !== 'running' || event.to === 'running' || job.unavailable <= allowed) return null;
    return `${event.update ?? `a ${event.why}`} stopped ${event.job}/${event.slot}: ${job.unavailable} tasks unavailable, ${allowed} allowed`;
  },
});

const unavailability = (state: string): number => (state === 'running' || state === 'gone' ? 0 : 1);

/** How many tasks of a job may be unavailable. */
export function countAllowed({ budget, size }: BudgetOf): number {
  if ('count' in budget) return budget.count;
  return 'all' in budget ? size : Math.max(1, Math.floor((budget.percent * size) / 100));
}
