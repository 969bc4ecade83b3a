import type { CommandInput } from '../verbs';
import { withAction, type ActionRecord, type ReleaseRecord } from './state';

/** Lets waiting actions skip a closed window or a soak. A deploy under way gets the verb, and decides by itself. */

type NamedAction = Pick<CommandInput, 'action'>;

/** The reason why no action can skip its window now; undefined if one can. */
export function whyNotSkipWindow(record: ReleaseRecord, { action }: NamedAction): string | undefined {
  if (action === undefined) {
    const isWaiting = Object.values(record.actions).some((one) =>
      one.deploying ? one.state === 'running' : waitsForTime(one),
    );
    return isWaiting ? undefined : 'none of its actions waits for its window or soaks';
  }
  const known = record.actions[action];
  if (known === undefined) return `it has no action ${action}`;
  return waitsForTime(known)
    ? undefined
    : `${action} does not wait for its window, nor does it soak (it is ${known.state})`;
}

const waitsForTime = ({ window, soak }: ActionRecord): boolean => window === 'closed' || soak === 'waiting';

/** All waiting actions, or the named one, skip the window or the soak that they wait for now. */
export const windowSkipped = (record: ReleaseRecord, { action }: NamedAction): ReleaseRecord =>
  Object.entries(record.actions)
    .filter(([name, one]) => waitsForTime(one) && (action ?? name) === name)
    .reduce((next, [name, { soak }]) => withAction(next, name, skipWait(soak)), record);

const skipWait = (soak: ActionRecord['soak']): Partial<ActionRecord> =>
  soak === 'waiting' ? { soak: 'skipped' } : { window: 'skipped' };
