import { deployOf } from '../twine/fleet';
import { checker } from './checker';

/** 6: two deploys never update one job at the same time. */
export const oneDeployChecker = checker<Map<string, string>>({
  name: 'one-deploy',
  invariant: 6,
  fresh: () => new Map(),
  see: (event, active) => {
    if (event.kind === 'update-ended') {
      if (active.get(event.job) === event.update) active.delete(event.job);
      return null;
    }
    if (event.kind !== 'update-accepted') return null;
    const other = active.get(event.job);
    active.set(event.job, event.update);
    if (other === undefined || deployOf(other) === deployOf(event.update)) return null;
    return `${event.update} began on ${event.job} while ${other} had not ended there`;
  },
});
