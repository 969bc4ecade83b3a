import { currentCount } from '../twine/countLog';
import { checker } from './checker';

/**
 * 7, in lockstep: nothing is reverted while requests still go to what it is reverted from; none go where no task is, but where none
 * runs at all, as while its region is down.
 */
export const trafficChecker = checker<Map<string, { version: string; percent: number }>>({
  name: 'traffic',
  invariant: 7,
  fresh: () => new Map(),
  see: (event, shifted, fleet) => {
    if (event.kind === 'traffic-shifted') {
      const { job, version, percent } = event;
      shifted.set(job, { version, percent });
      const { running, runningOf } = fleet.jobs.get(job) ?? {};
      const log = runningOf?.get(fleet.indices.get(version) ?? -1);
      const isLost =
        running !== undefined && currentCount(running) > 0 && (log === undefined || currentCount(log) === 0);
      return percent > 0 && isLost ? `${percent}% of ${job} goes to ${version}, which no task runs` : null;
    }
    if (event.kind !== 'update-accepted' || event.urgency !== 'revert') return null;
    const to = shifted.get(event.job);
    const update = fleet.updates.get(event.update);
    const target = update?.units.get(event.job)?.version ?? 0;
    if (to === undefined || to.percent === 0 || fleet.names[target] === to.version) return null;
    const isForward = event.updatedBy?.some(
      (id) => fleet.names[fleet.updates.get(id)?.units.get(event.job)?.version ?? 0] === to.version,
    );
    return isForward ? `${event.update} reverts ${event.job} while ${to.percent}% still goes to ${to.version}` : null;
  },
});
