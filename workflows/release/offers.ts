import { condition, getExternalWorkflowHandle } from '@temporalio/workflow';
import type { SignalDefinition } from '@temporalio/common';
import type { OfferAsk } from '../../activities/offers';
import type { OfferSignal } from '../../activities/offerBoards';
import type { Artifact } from '../../domain/artifact';
import type { DeployResult } from '../../domain/deploy/state';
import { workflowIds } from '../../domain/ids';
import type { UnpinMessage } from '../../domain/offers/board';
import {
  formatOfferWait,
  listOffering,
  type GrantedOffer,
  type OfferPlan,
  type Wish,
  type WishAnswer,
} from '../../domain/offers/judge';
import {
  fillAnyway,
  fillWishes,
  findRunning,
  listOffersAfter,
  listOffersElsewhere,
  listWishes,
  resolveOffers,
} from '../../domain/offers/ofPipeline';
import { viewWaiting } from '../../domain/offers/view';
import type { Admission } from '../../domain/release/admission';
import type { DeployEndRecord } from '../../domain/release/state';
import { skipsTheQueue } from '../../domain/release/urgent';
import type { DeployAction } from '../../domain/spec/pipeline';
import { getFailureMessage } from '../deploy/calls';
import { endChangeSignal, unpinOffersSignal } from '../offers';
import { offerLooks, offerMakers, offerMessengers, offerTakers, urgentOffers } from '../proxies';
import { BackgroundTasks, waitFor, type WaitOutcome } from '../waitFor';
import { assertReachable, signalReady } from './admissionRequest';
import type { ReleaseSession } from './session';

/** A deploy with the offers of other pipelines that it needs, and those that it makes (docs/design/offers.md). */
export interface DeployOffers {
  readonly wishes: readonly Wish[];
  /** Null if its pipeline has never offered anything. */
  readonly plan: OfferPlan | null;
}

/** Whether a deploy has anything to do with offers. Older releases, and most newer ones, do not. */
export const needsOffers = ({ wishes, plan }: DeployOffers): boolean => wishes.length > 0 || plan !== null;

/**
 * The offers of a deploy. Undefined if one cannot be made from its artifacts; then the action is closed. An emergency continues and makes none.
 * A follow-on brings nothing new, and a rollback makes those of the release that it restores.
 */
export function findOffers(
  run: ReleaseSession,
  name: string,
  artifacts: readonly Artifact[],
): DeployOffers | undefined {
  const { spec, trigger, offered } = run.input;
  const wishes = listWishes(spec, name);
  const own = listOffersAfter(spec, name);
  const isAgain = trigger.kind === 'rollback' || trigger.kind === 'follow-on';
  if (isAgain || (own.length === 0 && !offered)) return { wishes, plan: null };
  const resolved = resolveOffers(own, artifacts);
  const elsewhere = listOffersElsewhere(spec, name);
  if ('made' in resolved) return { wishes, plan: { action: name, made: resolved.made, elsewhere } };
  if (trigger.kind !== 'emergency') {
    run.close(name, 'failed', resolved.refusal);
    return undefined;
  }
  run.log('offers', `${name} makes no offer: ${resolved.refusal}`);
  return { wishes, plan: null };
}

/**
 * Waits until all offers that a deploy needs are there, and those that it makes fit their users. Its pipeline knows that it waits, so a newer
 * release may supersede it. A rollback, an emergency and a follow-on do not wait.
 * @param refused why it could not begin when it had its turn; it does not look again at once
 * @returns the decision of the pipeline that ends the wait, if there is one
 */
export async function awaitOffers(
  run: ReleaseSession,
  name: string,
  artifacts: readonly Artifact[],
  offers: DeployOffers,
  refused?: string,
): Promise<Admission | undefined> {
  const { settings, trigger } = run.input;
  if (skipsTheQueue(trigger)) return undefined;
  // The answer to an earlier attempt no longer counts.
  run.admissions.delete(name);
  const background = new BackgroundTasks();
  const isOver = () => givesUp(run) || run.admissions.has(name) || run.unreachable !== null;
  const show = (why: string, unmet: readonly Wish[]): void => {
    const blockedBy = formatOfferWait(why);
    run.patch(name, { state: 'blocked', blockedBy, until: null, ...viewWishes(offers, unmet) });
    signalReady(run, name, { kind: 'deploy', artifacts, mutex: [], later: { why: blockedBy } });
  };
  if (refused !== undefined) {
    show(refused, offers.wishes);
    await condition(isOver, settings.waitIntervalMs, { summary: `${name}: until it looks at offers again` });
  }
  let seen: string | null = refused ?? null;
  const summary = `${name}: until its wishes are satisfied and its offers fit`;
  const look = (): Promise<WishAnswer> =>
    offerLooks().offerNews.executeWithOptions({ summary }, [
      { ...toAsk(run, name, offers), seen, intervalMs: settings.waitIntervalMs },
    ]);
  while (!isOver()) {
    const waited: WaitOutcome<WishAnswer> = await waitFor(background, look, { wake: isOver });
    await background.drain();
    if (waited.kind === 'failed') throw waited.error;
    if (waited.kind !== 'done' || waited.value.kind === 'satisfied') break;
    seen = waited.value.reason;
    show(seen, waited.value.unmet);
  }
  assertReachable(run);
  run.patch(name, { blockedBy: null, ...viewWishes(offers, []) });
  return run.admissions.get(name);
}

const givesUp = ({ control, overtaken }: ReleaseSession): boolean => control.ending !== null || overtaken !== null;

const viewWishes = ({ wishes }: DeployOffers, unmet: readonly Wish[]) =>
  wishes.length === 0 ? {} : { wishes: viewWaiting(wishes, unmet) };

const toAsk = (run: ReleaseSession, name: string, { wishes, plan }: DeployOffers): OfferAsk => ({
  ...{ pipeline: run.input.spec.pipeline, user: formatUser(run, name), release: run.input.number, wishes, plan },
});

/** The deploy as a user of offers: `auth/deploy`. */
const formatUser = ({ input }: ReleaseSession, name: string): string => `${input.spec.pipeline}/${name}`;

/** A deploy with the values of the offers that it uses, or why it cannot begin. */
export type TakenOffers =
  | { readonly action: DeployAction; readonly wishes: readonly GrantedOffer[] }
  /** It never can. */
  | { readonly refusal: string }
  /** It cannot now. */
  | { readonly waits: string };

/**
 * Pins the offers of a deploy that has its turn, and announces the change of its own.
 * @param before the last good release of the action, for an emergency
 */
export async function takeOffers(
  run: ReleaseSession,
  name: string,
  action: DeployAction,
  offers: DeployOffers,
  before?: number,
): Promise<TakenOffers> {
  if (skipsTheQueue(run.input.trigger)) return takeAnyway(run, name, action, offers, before);
  const background = new BackgroundTasks();
  run.patch(name, { state: 'blocked', blockedBy: formatOfferWait('their answer') });
  const take = async (): Promise<WishAnswer> => {
    // The end of an earlier attempt must not arrive after this.
    await run.offerMessages.get(name);
    return offerTakers.takeOffers(toAsk(run, name, offers));
  };
  const taken = await waitFor(background, take, { wake: () => givesUp(run) });
  if (taken.kind !== 'done') void inOrder(run, name, () => background.drain());
  if (taken.kind === 'failed') return { waits: `they do not answer: ${getFailureMessage(taken.error)}` };
  if (taken.kind !== 'done') return { waits: 'it gave up' };
  if (taken.value.kind === 'waiting') return { waits: taken.value.reason };
  const { granted } = taken.value;
  const filled = fillWishes(action.with.config, offers.wishes, granted);
  return 'refusal' in filled ? filled : withConfig(run, name, action, { ...filled, granted });
}

async function takeAnyway(
  run: ReleaseSession,
  name: string,
  action: DeployAction,
  { wishes }: DeployOffers,
  before: number | undefined,
): Promise<TakenOffers> {
  if (wishes.length === 0) return { action, wishes: [] };
  const { spec, number, trigger } = run.input;
  const isAgain = trigger.kind !== 'emergency';
  const releases = [trigger.of, before].flatMap((release) => release ?? []);
  const ask = {
    ...{ pipeline: spec.pipeline, wishes, needsPresent: !isAgain },
    before: releases.map((release) => ({ pipeline: spec.pipeline, release, action: name })),
  };
  const background = new BackgroundTasks();
  for (const isPrompt of [true, false]) {
    const known = await waitFor(background, () => urgentOffers().readOffers({ ...ask, isPrompt }), {
      wake: () => givesUp(run),
    });
    if (known.kind === 'failed') throw known.error;
    if (known.kind !== 'done') return { waits: 'it gave up' };
    const filled = fillAnyway(action.with, wishes, known.value, isAgain);
    if (!('refusal' in filled)) {
      // The pin follows as soon as the offers answer.
      const by = { user: formatUser(run, name), release: number };
      void inOrder(run, name, () => offerMessengers.pinAnyway(by, filled.granted));
      return withConfig(run, name, action, filled);
    }
    if (!isPrompt) return filled;
    run.patch(name, { state: 'blocked', blockedBy: formatOfferWait('their answer') });
  }
  return { waits: 'it gave up' };
}

/** The deploy with the configuration that it will have; rules about its units are asked with that, too. */
function withConfig(
  run: ReleaseSession,
  name: string,
  action: DeployAction,
  { config, granted }: { readonly config: DeployAction['with']['config']; readonly granted: readonly GrantedOffer[] },
): TakenOffers {
  run.filled.set(name, config);
  return { action: { ...action, with: { ...action.with, config } }, wishes: granted };
}

/** From the pipeline: pipelines whose offers earlier versions may use, although this one may not wish for them, and the last good release. */
type UsesBefore = Pick<Extract<Admission, { kind: 'granted' }>, 'uses' | 'lastRelease'>;

/** A deploy that had taken its offers does not begin. */
export function returnOffers(run: ReleaseSession, name: string, offers: DeployOffers): void {
  // An earlier attempt may have been stopped halfway.
  if (!run.mixed.has(name)) endOffers(run, name, offers, 'nowhere', []);
}

/**
 * Makes the offers of a deploy that has succeeded, and tells other pipelines whether their offers are still used. Only the end of the release waits
 * for that.
 */
export function settleOffers(
  run: ReleaseSession,
  {
    action: name,
    artifacts,
    result,
  }: Pick<DeployEndRecord, 'action' | 'artifacts'> & { readonly result: DeployResult | undefined },
  offers: DeployOffers,
  { uses: before = [], lastRelease }: UsesBefore,
): void {
  if (run.input.trigger.kind === 'rollback' && result?.outcome === 'succeeded')
    restoreOffers(run, name, artifacts, lastRelease);
  if (!needsOffers(offers) && before.length === 0) return;
  const runs = findRunning(result, run.input.followOn !== undefined);
  if (runs === 'somewhere') run.mixed.add(name);
  else run.mixed.delete(name);
  const { plan } = offers;
  const { spec, number } = run.input;
  if (plan && result?.outcome === 'succeeded')
    run.notices(
      offerMakers.makeOffers(spec.pipeline, { release: number, action: name, made: plan.made }).catch(() => undefined),
    );
  endOffers(run, name, offers, runs, runs === 'everywhere' ? before : []);
}

/** The offers go back with the version. */
function restoreOffers(
  run: ReleaseSession,
  action: string,
  artifacts: readonly Artifact[],
  of: number | undefined,
): void {
  const { spec, number, offered } = run.input;
  if (!offered) return;
  const restored = offerMakers.restoreOffers(spec.pipeline, { release: number, action, artifacts, of: of ?? null });
  run.notices(restored.catch(() => undefined));
}

function endOffers(
  run: ReleaseSession,
  name: string,
  { wishes, plan }: DeployOffers,
  runs: UnpinMessage['runs'],
  before: readonly string[],
): void {
  const { spec, number } = run.input;
  const own = { release: number, action: name };
  if (plan && runs === 'nowhere') void inOrder(run, name, () => toOffers(spec.pipeline, endChangeSignal, own));
  const message: UnpinMessage = { user: formatUser(run, name), release: number, runs };
  for (const from of new Set([...listOffering(wishes), ...before]))
    void inOrder(run, name, () => toOffers(from, unpinOffersSignal, message));
}

/** Sends a message about the offers of an action after all earlier ones have arrived. */
function inOrder(run: ReleaseSession, name: string, send: () => Promise<unknown>): Promise<void> {
  const before = run.offerMessages.get(name) ?? Promise.resolve();
  const sent = before.then(send).then(
    () => undefined,
    () => undefined,
  );
  run.offerMessages.set(name, sent);
  run.notices(sent);
  return sent;
}

/** To a workflow that was ended from outside, an activity sends it. */
const toOffers = <T>(pipeline: string, signal: SignalDefinition<[T]>, message: T): Promise<void> =>
  getExternalWorkflowHandle(workflowIds.offers(pipeline))
    .signal(signal, message)
    .catch(() => offerMessengers.signalOffers(pipeline, signal.name as OfferSignal, message));
