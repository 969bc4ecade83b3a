import { condition, getExternalWorkflowHandle, patched } from '@temporalio/workflow';
import type { SignalDefinition } from '@temporalio/common';
import type { OfferAsk } from '../../activities/offerLooks';
import type { OfferSignal, Unpinned } from '../../activities/offerBoards';
import type { Artifact } from '../../domain/artifact';
import type { DeployResult } from '../../domain/deploy/state';
import { workflowIds } from '../../domain/ids';
import { offerMeasure } from '../../domain/metrics';
import type { PinMessage, UnpinMessage } from '../../domain/offers/board';
import {
  formatOfferWait,
  listOffering,
  pickMade,
  type GrantedOffer,
  type Wish,
  type WishAnswer,
} from '../../domain/offers/judge';
import {
  fillAnyway,
  fillWishes,
  findDeployOffers,
  findRunning,
  needsOffers,
  placeRelease,
  type DeployOffers,
} from '../../domain/offers/ofPipeline';
import type { BrokenOffers } from '../../domain/offers/risk';
import { describeBreak, viewWaiting } from '../../domain/offers/view';
import type { Admission } from '../../domain/release/admission';
import type { DeployEndRecord } from '../../domain/release/state';
import { takesOffersAnyway } from '../../domain/release/urgent';
import type { DeployAction } from '../../domain/spec/pipeline';
import type { UnfitUsers } from '../../domain/views';
import { getFailureMessage } from '../deploy/calls';
import { endChangeSignal, unpinOffersSignal } from '../offers';
import { measure } from '../measure';
import { offerLooks, offerMakers, offerMessengers, offerTakers, urgentOffers } from '../proxies';
import { BackgroundTasks, waitFor, type WaitOutcome } from '../waitFor';
import { assertReachable, signalReady } from './admissionRequest';
import { notifyBroken } from './notices';
import type { ReleaseSession } from './session';

/**
 * The offers of a deploy. Undefined if one cannot be made from its artifacts; then the action is closed. An emergency continues and makes none.
 */
export function findOffers(
  run: ReleaseSession,
  name: string,
  artifacts: readonly Artifact[],
): DeployOffers | undefined {
  const { lacks, ...offers } = findDeployOffers(run.input, name, artifacts);
  if (lacks === undefined) return offers;
  if (run.input.trigger.kind !== 'emergency') {
    run.close(name, 'failed', lacks);
    return undefined;
  }
  run.log('offers', `${name} makes no offer: ${lacks}`);
  // In releases of earlier builds, those of the last release stay on offer.
  return patched('emergency-drops-offers') ? offers : { ...offers, plan: null };
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
  if (takesOffersAnyway(trigger)) return undefined;
  // The answer to an earlier attempt no longer counts.
  run.admissions.delete(name);
  const sinceMs = Date.now();
  const background = new BackgroundTasks();
  const isOver = () => givesUp(run) || run.admissions.has(name) || run.unreachable !== null;
  const show = (why: string, unmet: readonly Wish[], unfit: UnfitUsers | null = null): void => {
    const blockedBy = formatOfferWait(why);
    run.patch(name, { state: 'blocked', blockedBy, until: null, unfit, ...viewWishes(run, offers, unmet) });
    signalReady(run, name, { kind: 'deploy', artifacts, mutex: [], later: { why: blockedBy } });
  };
  if (offers.plan?.removes) await announceRemoval(run, name, offers, isOver);
  if (refused !== undefined) {
    show(refused, listNeeded(run, offers));
    await condition(isOver, settings.waitIntervalMs, { summary: `${name}: until it looks at offers again` });
  }
  let seen: string | null = null;
  const summary = `${name}: until its wishes are satisfied and its offers fit`;
  const look = (): Promise<WishAnswer> =>
    offerLooks().offerNews.executeWithOptions({ summary }, [
      { ...toAsk(run, name, offers), seen, sinceMs, intervalMs: settings.waitIntervalMs },
    ]);
  while (!isOver()) {
    const before = isOverridden(run, name);
    const wake = () => isOver() || isOverridden(run, name) !== before;
    const waited: WaitOutcome<WishAnswer> = await waitFor(background, look, { wake });
    await background.drain();
    if (waited.kind === 'failed') throw waited.error;
    const answer = waited.kind === 'done' ? waited.value : undefined;
    if (answer?.kind === 'satisfied') break;
    seen = answer?.reason ?? null;
    if (answer) show(answer.reason, answer.unmet, answer.unfit);
  }
  assertReachable(run);
  measure(offerMeasure(isOver() ? 'left' : 'begins', Date.now() - sinceMs));
  run.patch(name, { blockedBy: null, unfit: null, ...viewWishes(run, offers, []) });
  return run.admissions.get(name);
}

/** If it is not announced in time, new users may still come before it has its turn. */
async function announceRemoval(
  run: ReleaseSession,
  name: string,
  { plan }: DeployOffers,
  wake: () => boolean,
): Promise<void> {
  run.patch(name, { state: 'blocked', blockedBy: formatOfferWait('their answer') });
  const ask = { pipeline: run.input.spec.pipeline, plan, ...placeRelease(run.input) };
  const background = new BackgroundTasks();
  const announce = async (): Promise<void> => {
    // The end of an earlier announcement must not arrive after this.
    await run.offerMessages.get(name);
    await offerTakers.announceRemoval(ask);
  };
  await waitFor(background, announce, { wake });
  await background.drain();
}

const givesUp = ({ control, overtaken }: ReleaseSession): boolean => control.ending !== null || overtaken !== null;

/** Whether a person lets this attempt begin although its offers do not fit their users. */
const isOverridden = ({ record }: ReleaseSession, name: string): boolean => record.actions[name]?.override != null;

const isUndeploying = ({ input }: ReleaseSession): boolean => input.trigger.kind === 'undeploy';

/** The wishes that have to be satisfied. */
const listNeeded = (run: ReleaseSession, { wishes }: DeployOffers): readonly Wish[] =>
  isUndeploying(run) ? [] : wishes;

function viewWishes(run: ReleaseSession, offers: DeployOffers, unmet: readonly Wish[]) {
  const needed = listNeeded(run, offers);
  return needed.length === 0 ? {} : { wishes: viewWaiting(needed, unmet) };
}

const toAsk = (run: ReleaseSession, name: string, offers: DeployOffers): OfferAsk => ({
  ...{ pipeline: run.input.spec.pipeline, user: formatUser(run, name), ...placeRelease(run.input) },
  ...{ wishes: listNeeded(run, offers), plan: offers.plan },
  ...(isOverridden(run, name) ? { override: true } : {}),
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
  if (takesOffersAnyway(run.input.trigger)) return takeAnyway(run, name, action, offers, before);
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
  const { granted, unfit } = taken.value;
  if (unfit) run.log('offers', `${name} begins although ${describeBreak(unfit)}`);
  if (isUndeploying(run)) return readRemoved(run, name, action, offers, before);
  const filled = fillWishes(action.with.config, offers.wishes, granted);
  return 'refusal' in filled ? filled : withConfig(run, name, action, { ...filled, granted });
}

async function takeAnyway(
  run: ReleaseSession,
  name: string,
  action: DeployAction,
  offers: DeployOffers,
  before: number | undefined,
): Promise<TakenOffers> {
  const read = await readAnyway(run, name, action, offers, before);
  // The pin follows as soon as the offers answer.
  const by = { user: formatUser(run, name), ...placeRelease(run.input) };
  if ('action' in read && offers.wishes.length > 0)
    void inOrder(run, name, () => pinAnyway(run, name, by, read.wishes));
  return read;
}

/** The deploy that is to be removed: the last one, even if the file says something else now. */
async function readRemoved(...[run, ...of]: Parameters<typeof readAnyway>): Promise<TakenOffers> {
  const read = await readAnyway(run, ...of);
  return 'action' in read ? { ...read, wishes: [] } : read;
}

/** The deploy with the values of an earlier one, or with the present values, without a wait for any wish. */
async function readAnyway(
  run: ReleaseSession,
  name: string,
  action: DeployAction,
  { wishes }: DeployOffers,
  before: number | undefined,
): Promise<TakenOffers> {
  if (wishes.length === 0 && !isUndeploying(run)) return { action, wishes: [] };
  const { spec, trigger } = run.input;
  const isAgain = trigger.kind !== 'emergency';
  const releases = [trigger.of, before].flatMap((release) => release ?? []);
  const ask = {
    ...{ pipeline: spec.pipeline, wishes, needsPresent: !isAgain },
    pushType: isUndeploying(run) ? null : action.with.pushType,
    before: releases.map((release) => ({ pipeline: spec.pipeline, release, action: name })),
    release: run.input.number,
  };
  const background = new BackgroundTasks();
  for (const isPrompt of [true, false]) {
    const known = await waitFor(background, () => urgentOffers().readOffers({ ...ask, isPrompt }), {
      wake: () => givesUp(run),
    });
    if (known.kind === 'failed') throw known.error;
    if (known.kind !== 'done') return { waits: 'it gave up' };
    const { earlier } = known.value;
    const target = isUndeploying(run) && earlier ? { ...action.with, pushType: earlier.pushType } : action.with;
    const filled = fillAnyway(target, wishes, known.value, isAgain);
    if (!('refusal' in filled)) return withConfig(run, name, { ...action, with: target }, filled);
    if (!isPrompt) return filled;
    run.patch(name, { state: 'blocked', blockedBy: formatOfferWait('their answer') });
  }
  return { waits: 'it gave up' };
}

/** A pipeline that could not list this user keeps no offer for it, so people have to know. */
async function pinAnyway(
  run: ReleaseSession,
  name: string,
  by: Pick<PinMessage, 'user' | 'release' | 'place'>,
  granted: readonly GrantedOffer[],
): Promise<void> {
  const warn = (why: string): void =>
    run.log('offers', `${name} uses offers without being one of their users: ${why}; they may change or be withdrawn`);
  try {
    // Earlier versions of the activity returned nothing, or only the first of these lists.
    const answer = (await offerMessengers.pinAnyway(by, granted)) as Unpinned | readonly string[] | null | undefined;
    const { full, gone, broken }: Unpinned = answer && 'full' in answer ? answer : { full: answer ?? [], gone: [] };
    for (const from of full) warn(`${from} has too many users`);
    for (const offer of gone) warn(`${offer} is not offered any more`);
    if (broken) run.notices(notifyBroken(run, name, broken));
  } catch (error) {
    warn(`${listOffering(granted).join(', ')} did not answer: ${getFailureMessage(error)}`);
  }
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
  if (!run.mixed.has(name)) endOffers(run, name, offers, { runs: 'nowhere', isUnchanged: true, before: [] });
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
  const isFollowOn = run.input.followOn !== undefined;
  const runs = findRunning(result, isFollowOn, run.mixed.get(name));
  if (runs === 'somewhere') run.mixed.set(name, result === undefined ? 'unknown' : (run.mixed.get(name) ?? 'mixed'));
  else run.mixed.delete(name);
  const { plan } = offers;
  const by = { ...placeRelease(run.input), action: name };
  if (plan && result?.outcome === 'succeeded')
    notifyMade(run, name, offerMakers.makeOffers(run.input.spec.pipeline, { ...by, ...pickMade(plan) }));
  const isUnchanged = findRunning(result, isFollowOn) === 'nowhere';
  endOffers(run, name, offers, { runs, isUnchanged, before: runs === 'everywhere' ? before : [] });
}

/** The offers go back with the version. */
function restoreOffers(
  run: ReleaseSession,
  action: string,
  artifacts: readonly Artifact[],
  of: number | undefined,
): void {
  const { spec, offered } = run.input;
  if (!offered) return;
  const by = { ...placeRelease(run.input), action };
  notifyMade(run, action, offerMakers.restoreOffers(spec.pipeline, { ...by, artifacts, of: of ?? null }));
}

/** Once the offers are made, the owners of both sides are notified of those that are broken. A worker of an earlier version does not say. */
function notifyMade(run: ReleaseSession, action: string, made: Promise<BrokenOffers | undefined>): void {
  run.notices(made.then((broken) => notifyBroken(run, action, broken)).catch(() => undefined));
}

interface OffersEnd extends Pick<UnpinMessage, 'runs'> {
  /** This attempt changes none of the offers of its own pipeline. */
  readonly isUnchanged: boolean;
  /** Other pipelines whose offers earlier versions have used. */
  readonly before: readonly string[];
}

function endOffers(
  run: ReleaseSession,
  name: string,
  { wishes, plan }: DeployOffers,
  { runs, isUnchanged, before }: OffersEnd,
): void {
  const { spec } = run.input;
  const by = placeRelease(run.input);
  const own = { release: by.release, action: name };
  if (plan && isUnchanged) void inOrder(run, name, () => toOffers(spec.pipeline, endChangeSignal, own));
  const message: UnpinMessage = { user: formatUser(run, name), ...by, runs };
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
