import { findUpdateIndices } from '../twine/choose';
import { hasTask } from '../twine/job';
import { checker } from './checker';

/** 7: a revert touches only tasks of the updates that it undoes. When it is done it leaves none of them behind, unless it was to take only a part. */
export const revertScopeChecker = checker<
  Map<string, { readonly updates: readonly string[]; readonly isPart: boolean }>
>({
  name: 'revert-scope',
  invariant: 7,
  fresh: () => new Map(),
  see: (event, undone, fleet) => {
    if (event.kind === 'update-accepted' && event.updatedBy)
      undone.set(`${event.update} ${event.job}`, { updates: event.updatedBy, isPart: event.isPart });
    if (event.kind === 'task' && event.why === 'update') {
      const scope = undone.get(`${event.update} ${event.job}`)?.updates;
      if (scope === undefined || (event.previous !== null && scope.includes(event.previous))) return null;
      return `${event.update} touched ${event.job}/${event.slot}, which ${event.previous ?? 'no update'} had touched`;
    }
    const scope =
      event.kind === 'update-ended' && event.how === 'done' ? undone.get(`${event.update} ${event.job}`) : undefined;
    const job = event.kind === 'update-ended' ? fleet.jobs.get(event.job) : undefined;
    if (event.kind !== 'update-ended' || scope === undefined || scope.isPart || job === undefined) return null;
    const indices = findUpdateIndices(fleet, scope.updates);
    const version = fleet.updates.get(event.update)?.units.get(event.job)?.version;
    for (let slot = 0; slot < job.size; slot += 1)
      if (hasTask(job, slot) && indices.has(job.tasks.update[slot] ?? 0) && job.tasks.version[slot] !== version)
        return `${event.update} is done, but ${event.job}/${slot} still runs what it undoes`;
    return null;
  },
});
