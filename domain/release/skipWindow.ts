import type { CommandInput } from '../verbs';
import { withAction, type ActionRecord, type ReleaseRecord } from './state';

/** Going past a closed window or a soak, for the actions that wait for theirs; a deploy under way gets the verb, and decides itself. */

type NamedAction = Pick<CommandInput, 'action'>;

/** Why nothing can go past its window now; undefined when something can. */
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

/** Those that wait, or the one that is named, go past what they wait for now: their window, or their soak. */
export const windowSkipped = (record: ReleaseRecord, { action }: NamedAction): ReleaseRecord =>
  Object.entries(record.actions)
    .filter(([name, one]) => waitsForTime(one) && (action ?? name) === name)
    .reduce((next, [name, { soak }]) => withAction(next, name, skipped(soak)), record);

const skipped = (soak: ActionRecord['soak']): Partial<ActionRecord> =>
  soak === 'waiting' ? { soak: 'skipped' } : { window: 'skipped' };
