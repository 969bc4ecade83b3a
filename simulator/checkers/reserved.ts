import { deployOfUpdate } from '../twine/fleet';
import { checker } from './checker';

/**
 * 5 and 7: no update of another deploy touches a task of a running canary. The checker takes an update for a canary's
 * once another update excludes it. The canary is over when it is undone.
 */
export const reservedChecker = checker<{ reserved: Set<string>; undone: Set<string> }>({
  name: 'reserved',
  invariant: 5,
  fresh: () => ({ reserved: new Set(), undone: new Set() }),
  see: (event, { reserved, undone }) => {
    if (event.kind === 'update-accepted') {
      for (const id of event.exclude) if (!undone.has(id)) reserved.add(id);
      for (const id of event.updatedBy ?? []) {
        undone.add(id);
        reserved.delete(id);
      }
      return null;
    }
    if (event.kind !== 'task' || event.why !== 'update' || event.update === null || event.previous === null)
      return null;
    if (!reserved.has(event.previous) || deployOfUpdate(event.previous) === deployOfUpdate(event.update)) return null;
    return `${event.update} touched ${event.job}/${event.slot}, which is reserved for ${event.previous}`;
  },
});
