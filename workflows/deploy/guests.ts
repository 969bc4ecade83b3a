import { idsOf } from '../../domain/deploy/snapshot';
import { guestsOn } from '../../domain/mutex';
import { releaseId } from '../../domain/ids';
import { holders } from '../proxies';
import { waitWatching } from './pause';
import type { DeployRun } from './run';

/** A canary says whose tasks are reserved before they are: from then on others exclude them. */
export async function joinAsGuest(run: DeployRun, updateId: string): Promise<void> {
  if (!run.input.canary) return;
  const { pipeline, release, settings } = run.input;
  const { updates, fleet } = run.record;
  const units = idsOf(fleet?.snapshot);
  const guest = {
    owner: releaseId(pipeline, release),
    requester: run.workflowId,
    updates: [...new Set([...updates, updateId])],
    ...(units ? { units } : {}),
  };
  await holders(run.isUrgent).joinLock(run.lockId, guest, settings);
}

/**
 * A completion leaves no task behind, so it waits until no canary is left on the units (docs/design/deploy.md#phases).
 * @returns whether it had to wait.
 */
export async function untilGuestsLeft(run: DeployRun, over: () => boolean): Promise<boolean> {
  if (run.input.canary) return false;
  const before = run.guestsLeft;
  const guests = await holders(run.isUrgent).guestsOf(run.lockId);
  const present = guestsOn(guests, idsOf(run.record.fleet?.now ?? run.record.fleet?.snapshot));
  if (present.length === 0) return false;
  run.enter('waiting-lock');
  const waitsForGuests = present.map(({ requester }) => requester.slice('deploy/'.length));
  run.patch({ waitsForGuests });
  run.note('waiting-for-canaries', `waits until no canary is left on its units: ${waitsForGuests.join(', ')}`);
  const wait = { summary: 'until no canary is left', untilMs: null };
  await waitWatching(run, wait, () => run.guestsLeft > before || over());
  run.patch({ waitsForGuests: [] });
  return true;
}
