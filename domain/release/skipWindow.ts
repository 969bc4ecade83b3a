import type { CommandInput } from '../verbs';
import { withAction, type ReleaseRecord } from './state';

/** Going past a closed window, for the actions that wait for theirs; a deploy under way is told, and decides itself. */

type Named = Pick<CommandInput, 'action'>;

/** Why nothing can go past its window now; undefined when something can. */
export function whyNotSkipWindow(record: ReleaseRecord, { action }: Named): string | undefined {
  if (action === undefined) {
    const isWaiting = Object.values(record.actions).some(({ window, deploying, state }) =>
      deploying ? state === 'running' : window === 'closed',
    );
    return isWaiting ? undefined : 'none of its actions waits for its window';
  }
  const known = record.actions[action];
  if (known === undefined) return `it has no action ${action}`;
  return known.window === 'closed' ? undefined : `${action} does not wait for its window (it is ${known.state})`;
}

/** Those that wait, or the one that is named, begin outside of their window. */
export const windowSkipped = (record: ReleaseRecord, { action }: Named): ReleaseRecord =>
  Object.entries(record.actions)
    .filter(([name, { window }]) => window === 'closed' && (action ?? name) === name)
    .reduce((next, [name]) => withAction(next, name, { window: 'skipped' }), record);
