import { deployOfUpdate } from '../twine/fleet';
import { checker } from './checker';

/** 6: two deploys never update one job at the same time. Canaries are the exception: the other deploys exclude their tasks. */
export const oneDeployChecker = checker<Map<string, Map<string, readonly string[]>>>({
  name: 'one-deploy',
  invariant: 6,
  fresh: () => new Map(),
  see: (event, jobs) => {
    if (event.kind === 'update-ended') {
      jobs.get(event.job)?.delete(event.update);
      return null;
    }
    if (event.kind !== 'update-accepted') return null;
    const { update, exclude, updatedBy } = event;
    const active = jobs.get(event.job) ?? new Map<string, readonly string[]>();
    const others = [...active].filter(([id]) => deployOfUpdate(id) !== deployOfUpdate(update));
    jobs.set(event.job, active.set(update, exclude));
    const clash = others.find(
      ([id, excluded]) => !exclude.includes(id) && !updatedBy?.some((undone) => excluded.includes(undone)),
    );
    return clash ? `${update} began on ${event.job} while ${clash[0]} had not ended there` : null;
  },
});
