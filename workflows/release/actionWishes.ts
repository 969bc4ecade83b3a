import type { WishAnswer } from '../../domain/offers/judge';
import { formatOfferWait, type GrantedOffer, type Wish } from '../../domain/offers/judge';
import { canWish, fillWishes, listWishes, placeRelease } from '../../domain/offers/ofPipeline';
import { viewGranted, viewWaiting } from '../../domain/offers/view';
import type { ActionSpec } from '../../domain/spec/pipeline';
import { offerLooks } from '../proxies';
import { BackgroundTasks, waitFor } from '../waitFor';
import type { ReleaseSession } from './session';

/**
 * Runs an action other than a deploy once its wishes are satisfied, with their values in `with`. It is no user of these offers, since nothing of it
 * stays deployed: an offer may be withdrawn while it runs.
 */
export async function fulfilAction<A extends ActionSpec>(
  run: ReleaseSession,
  name: string,
  action: A,
  work: (filled: A) => Promise<void>,
): Promise<void> {
  const wishes = listWishes(run.input.spec, name);
  if (wishes.length === 0 || !canWish(action)) return work(action);
  const granted = await awaitWishes(run, name, wishes);
  if (granted === undefined) return run.closeCancelled(name, run.endedBy());
  const filled = fillWishes(action.with, wishes, granted);
  if ('refusal' in filled) return run.close(name, 'failed', filled.refusal);
  run.patch(name, { blockedBy: null, wishes: viewGranted(granted) });
  return work({ ...action, with: filled.config });
}

/** @returns undefined if the release ends first */
async function awaitWishes(
  run: ReleaseSession,
  name: string,
  wishes: readonly Wish[],
): Promise<readonly GrantedOffer[] | undefined> {
  const { spec, settings } = run.input;
  const ask = {
    ...{ pipeline: spec.pipeline, user: `${spec.pipeline}/${name}`, ...placeRelease(run.input) },
    ...{ wishes, plan: null, reads: true as const, sinceMs: Date.now(), intervalMs: settings.waitIntervalMs },
  };
  const background = new BackgroundTasks();
  const isOver = (): boolean => run.control.ending !== null;
  const summary = `${name}: until its wishes are satisfied`;
  for (let seen: string | null = null; !isOver();) {
    const look = (): Promise<WishAnswer> => offerLooks().offerNews.executeWithOptions({ summary }, [{ ...ask, seen }]);
    const waited = await waitFor(background, look, { wake: isOver });
    await background.drain();
    if (waited.kind === 'failed') throw waited.error;
    if (waited.kind !== 'done') break;
    if (waited.value.kind === 'satisfied') return waited.value.granted;
    const { reason, unmet } = waited.value;
    seen = reason;
    const blockedBy = formatOfferWait(reason);
    run.patch(name, { state: 'blocked', blockedBy, until: null, wishes: viewWaiting(wishes, unmet) });
  }
  return undefined;
}
