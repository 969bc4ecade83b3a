import { formatIdentity, type Artifact } from '../artifact';
import { releaseId } from '../ids';
import type { HistoryRow, Trigger } from '../views';
import {
  findFollower,
  recordPredecessors,
  isPutBack,
  orderIn,
  recordPushes,
  withEarly,
  withLate,
  withoutEarly,
} from './order';
import { getReleasePlace } from './place';
import { queueRelease, isKnownBad, type ActiveRelease, type PipelineState } from './state';

/**
 * The release that a submission repeats: the one with the same key or, from a finder or webhook, the one with the same
 * artifacts.
 */
export function findRepeated(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
): number | undefined {
  const byKey = findReleaseByKey(state, trigger);
  if (byKey !== undefined || (trigger.kind !== 'finder' && trigger.kind !== 'webhook')) return byKey;
  // Once a release has ended, its artifacts include those that it built itself.
  const same = (of: { readonly artifacts: readonly Artifact[] }) => {
    const had = new Set(of.artifacts.map(formatIdentity));
    return artifacts.every((artifact) => had.has(formatIdentity(artifact)));
  };
  return (state.active.find(same) ?? state.history.find(same))?.number;
}

/** A key that is reused with other content: the release that it started, and the new request, in words. */
export interface ReusedKey {
  readonly was: string;
  readonly now: string;
}

/**
 * Whether a person or a program sends the key of a release with content that the release does not deploy. This uses the pipeline's
 * record of the release; a forgotten release gives no answer.
 * @param action of an emergency
 * @param rerunOf of a rerun
 */
export function findReusedKey(
  state: PipelineState,
  given: readonly Artifact[],
  trigger: Trigger,
  { action, rerunOf }: { readonly action?: string; readonly rerunOf?: number } = {},
): ReusedKey | undefined {
  const number = findReleaseByKey(state, trigger);
  const running = state.active.find((one) => one.number === number);
  const over = state.history.find((one) => one.number === number);
  const release = running ?? over;
  if (release === undefined) return undefined;
  const isEmergency = release.trigger.kind === 'emergency';
  const itsAction = isEmergency ? (running?.emergency?.action ?? over?.deploys[0]?.action ?? action) : undefined;
  const isWhole = over?.omitted?.['artifacts'] === undefined;
  const same = given.every((artifact) => {
    const named = release.artifacts.filter(({ name }) => name === artifact.name);
    return named.length === 0 ? !isWhole : named.some((one) => formatIdentity(one) === formatIdentity(artifact));
  });
  if (same && itsAction === action && runsAgain(state, release, rerunOf)) return undefined;
  const was = `${releaseId(state.spec.pipeline, release.number)} with ${describeReleaseContent(release.artifacts, itsAction, release.rerunOf)}`;
  return { was, now: describeReleaseContent(given, action, rerunOf) };
}

/** A rerun of a rerun repeats the first release: all of them share its place. */
function runsAgain(
  { history }: PipelineState,
  release: ActiveRelease | HistoryRow,
  rerunOf: number | undefined,
): boolean {
  if (rerunOf === undefined || release.rerunOf === undefined) return rerunOf === release.rerunOf;
  return (
    getReleasePlace(release) ===
    getReleasePlace(history.find(({ number }) => number === rerunOf) ?? { number: rerunOf })
  );
}

const describeReleaseContent = (
  artifacts: readonly Artifact[],
  action: string | undefined,
  rerunOf: number | undefined,
): string =>
  [
    ...artifacts.map(formatIdentity),
    ...(action === undefined ? [] : [`pushed by ${action}`]),
    ...(rerunOf === undefined ? [] : [`to run release ${rerunOf} again`]),
  ].join(', ');

const findReleaseByKey = ({ keys }: PipelineState, { key }: Trigger): number | undefined =>
  key === null ? undefined : keys.find(([known]) => known === key)?.[1];

/** The artifacts of a release: the given ones and, for the pipeline's other artifacts, the latest known one that did not fail. */
export function completeArtifacts(state: PipelineState, given: readonly Artifact[]): readonly Artifact[] {
  return [...given, ...pickRemaining(state, given).map(({ taken }) => taken)];
}

/** The artifact that a release takes for an input that it leaves out. */
interface InputChoice {
  readonly taken: Artifact;
  /** The latest artifact if it is a different one, and the release that failed with it. */
  readonly instead?: { readonly of: Artifact; readonly release: number };
}

function pickRemaining(state: PipelineState, given: readonly Artifact[]): readonly InputChoice[] {
  const names = new Set(given.map(({ name }) => name));
  return Object.keys(state.spec.artifacts).flatMap((name) => {
    const latest = names.has(name) ? undefined : state.inputs[name];
    return latest === undefined ? [] : chooseVersion(state, latest);
  });
}

/** A version with which all releases failed is not taken by default if there is one that succeeded. */
function chooseVersion(state: PipelineState, latest: Artifact): InputChoice {
  const release = findFailedRelease(state, latest);
  const isGood = (one: Artifact): boolean =>
    one.name === latest.name && !isKnownBad(state, one) && formatIdentity(one) !== formatIdentity(latest);
  const good = state.history.findLast((row) => row.state === 'succeeded' && row.artifacts.some(isGood));
  const taken = good?.artifacts.find(isGood);
  return release === undefined || taken === undefined ? { taken: latest } : { taken, instead: { of: latest, release } };
}

/** The last release that failed with an artifact, unless another succeeded with it, or is under way. */
function findFailedRelease({ active, history }: PipelineState, artifact: Artifact): number | undefined {
  const has = (of: { readonly artifacts: readonly Artifact[] }): boolean =>
    of.artifacts.some((one) => formatIdentity(one) === formatIdentity(artifact));
  const ended = history.filter(has);
  if (active.some(has) || ended.some(({ state }) => state === 'succeeded')) return undefined;
  return ended.findLast(({ state, cause }) => state === 'failed' || cause === 'bad-package')?.number;
}

/** The inputs for which a release takes another version than the latest, in words. */
export const describePassedOver = (state: PipelineState, given: readonly Artifact[]): readonly string[] =>
  pickRemaining(state, given).flatMap(({ taken, instead }) =>
    instead
      ? [`${formatIdentity(instead.of)} failed in release ${instead.release}, so it takes ${formatIdentity(taken)}`]
      : [],
  );

/** The pipeline's artifacts that have no value yet. */
export function findMissingArtifacts({ spec, inputs }: PipelineState, given: readonly Artifact[]): string[] {
  const names = new Set(given.map(({ name }) => name));
  return Object.keys(spec.artifacts).filter((name) => !names.has(name) && inputs[name] === undefined);
}

/** Makes these the latest values. */
export const recordLatestInputs = (state: PipelineState, artifacts: readonly Artifact[]): PipelineState => ({
  ...state,
  followed: recordPredecessors(state.followed, artifacts),
  inputs: { ...state.inputs, ...Object.fromEntries(artifacts.map((artifact) => [artifact.name, artifact])) },
});

/** The reason why a submission made no release, or the release that it made or repeated. */
export interface Submission {
  readonly state: PipelineState;
  readonly number: number | null;
  readonly duplicate: boolean;
}

/**
 * A submission of a finder or a webhook (docs/design/pipeline.md#submissions). It makes a release once each artifact has a value and one is new.
 * A repeated submission, by key or by identity, makes no second one. An artifact older than the latest starts nothing, unless its predecessor
 * comes after it. A pipeline whose releases a person starts only remembers it.
 */
export function applySubmission(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
  nowMs: number,
): Submission {
  const same = findResubmitted(state, artifacts, trigger);
  if (same !== undefined) return { state, number: same, duplicate: true };
  const late = artifacts.filter((artifact) => orderIn(state, artifact) === 'older');
  if (late.length > 0) {
    const noted = withEarly(withLate(state, late, nowMs), late);
    const rest = artifacts.filter((artifact) => !late.includes(artifact));
    return rest.length > 0
      ? applySubmission(noted, rest, trigger, nowMs)
      : { state: noted, number: null, duplicate: false };
  }
  const isKnown = ({ name, ...rest }: Artifact): boolean => {
    const latest = state.inputs[name];
    return latest !== undefined && formatIdentity(latest) === formatIdentity({ name, ...rest });
  };
  if (artifacts.every(isKnown)) return { state, number: null, duplicate: true };
  const taken = takeArtifacts(state, artifacts, trigger, nowMs);
  const follower = findFollower(state, artifacts);
  if (follower === undefined) return taken;
  const next = applySubmission(taken.state, [follower], { ...trigger, key: null }, nowMs);
  return { ...next, number: taken.number ?? next.number };
}

/** New artifacts become the latest, and make a release if all of its inputs are known. */
function takeArtifacts(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
  nowMs: number,
): Submission {
  const known = {
    ...withoutEarly(recordLatestInputs(state, artifacts), artifacts),
    ...(trigger.kind === 'webhook' && recordPushes(state, artifacts, nowMs)),
  };
  const { mode, gates } = state.spec.schedule;
  if (findMissingArtifacts(known, artifacts).length > 0 || (mode === 'manual' && gates === 'releases'))
    return { state: known, number: null, duplicate: false };
  const made = queueRelease(known, completeArtifacts(known, artifacts), trigger, nowMs);
  return { state: made, number: state.nextNumber, duplicate: false };
}

/** The release that a finder or webhook repeats, unless its artifacts are to replace those that came since. */
export function findResubmitted(
  state: PipelineState,
  artifacts: readonly Artifact[],
  trigger: Trigger,
): number | undefined {
  const isNews = trigger.key === null || !state.keys.some(([known]) => known === trigger.key);
  if (isOvertaken(state, artifacts, trigger)) return undefined;
  if (isNews && artifacts.some((artifact) => isPutBack(state, artifact))) return undefined;
  return findRepeated(state, artifacts, trigger);
}

/**
 * Whether a finder repeats an artifact that an older one has replaced, which came without an order, or before orders existed. A version that
 * a person chose stays.
 */
function isOvertaken(state: PipelineState, artifacts: readonly Artifact[], { kind }: Trigger): boolean {
  if (kind !== 'finder') return false;
  const newer = artifacts.filter((artifact) => state.inputs[artifact.name] && orderIn(state, artifact) === 'newer');
  return newer.some(({ name }) => classifyOrigin(state, state.inputs[name]) !== 'person');
}

function classifyOrigin({ active, history }: PipelineState, artifact: Artifact | undefined): 'person' | 'platform' {
  const isIts = (of: { readonly artifacts: readonly Artifact[] }): boolean =>
    artifact !== undefined && of.artifacts.some((one) => formatIdentity(one) === formatIdentity(artifact));
  const release = active.findLast(isIts) ?? history.findLast(isIts);
  return release?.trigger.kind === 'finder' || release?.trigger.kind === 'webhook' ? 'platform' : 'person';
}
