import type { CommandInput } from '../verbs';
import { withAction, type ActionRecord, type ReleaseRecord } from './state';

/** Going past a closed window or a soak, for the actions that wait for theirs; a deploy under way is told, and decides itself. */

type Named = Pick<CommandInput, 'action'>;

/** Why nothing can go past its window now; undefined when something can. */
export function whyNotSkipWindow(record: ReleaseRecord, { action }: Named): string | undefined {
  if (action === undefined) {
    const isWaiting = Object.values(record.actions).some((one) =>
      one.deploying ? one.state === 'running' : waits(one),
    );
    return isWaiting ? undefined : 'none of its actions waits for its window or soaks';
  }
  const known = record.actions[action];
  if (known === undefined) return `it has no action ${action}`;
  return waits(known) ? undefined : `${action} does not wait for its window, nor does it soak (it is ${known.state})`;
}

const waits = ({ window, soak }: ActionRecord): boolean => window === 'closed' || soak === 'waiting';

/** Those that wait, or the one that is named, go past what they wait for now: their window, or their soak. */
export const windowSkipped = (record: ReleaseRecord, { action }: Named): ReleaseRecord =>
  Object.entries(record.actions)
    .filter(([name, one]) => waits(one) && (action ?? name) === name)
    .reduce((next, [name, { soak }]) => withAction(next, name, skipped(soak)), record);

const skipped = (soak: ActionRecord['soak']): Partial<ActionRecord> =>
  soak === 'waiting' ? { soak: 'skipped' } : { window: 'skipped' };
