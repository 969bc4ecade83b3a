import { plural } from '../../domain/text';
import { nameAtIndex } from '../twine/fleet';
import { hasTask, jobSize } from '../twine/job';
import { checker } from './checker';

/**
 * 10: when a whole-unit update is done, the job's own version and that of every task that it covered is the new one. When a removal is done, the job has
 * no task left.
 */
export const endStateChecker = checker<null>({
  name: 'end-state',
  invariant: 10,
  fresh: () => null,
  see: (event, _memory, fleet) => {
    if (event.kind !== 'update-ended' || event.how !== 'done') return null;
    const update = fleet.updates.get(event.update);
    const unit = update?.units.get(event.job);
    const job = fleet.jobs.get(event.job);
    if (unit?.removes && job !== undefined && jobSize(job) > 0)
      return `${event.update} is done, but ${plural(jobSize(job), 'task')} of ${event.job} are left`;
    if (!update?.wholeUnit || update.urgency === 'revert' || unit === undefined || job === undefined) return null;
    const wanted = nameAtIndex(fleet, unit.version);
    if (job.version !== unit.version)
      return `${event.update} is done, but new tasks of ${event.job} do not start on ${wanted}`;
    for (const slot of unit.slots)
      if (hasTask(job, slot) && job.tasks.version[slot] !== unit.version)
        return `${event.update} is done, but ${event.job}/${slot} is not on ${wanted}`;
    return null;
  },
});
