import { formatIdentity, combineVersions, type Artifact } from '../artifact';
import { pickInheritance } from '../deploy/outcome';
import type { DeployResult } from '../deploy/state';
import { STATE_LIMITS } from '../limits';
import { releaseMutex as leave, type Mutex } from '../mutex';
import type { DeployEndRecord, ReleaseResult } from '../release/state';
import { bringsNews } from '../release/urgent';
import { findRunning } from '../offers/ofPipeline';
import { formatTime } from '../text';
import type { HistoryRow } from '../views';
import { addFollowOn, goodBefore, withUpdatedUnits } from './followOn';
import { limitHistoryRow, limitArtifact } from './recordLimits';
import { markKnownBad } from './knownBad';
import { getReleasePlace } from './place';
import { withReplacement } from './replacement';
import { recordDisturbance, recordSuccessor, standsSince } from './uptime';
import { holdPipeline, withInherited, type ActiveRelease, type GoodDeploy, type PipelineState } from './state';

/** The number of ended releases that a pipeline remembers. */
export const KEPT_RELEASES = STATE_LIMITS.history.max;

/** The artifacts to blame for a bad set: those that differ from the good set, or all if none differ. */
export function pickBlamed(artifacts: readonly Artifact[], good: readonly Artifact[]): readonly Artifact[] {
  const known = new Set(good.map(formatIdentity));
  const fresh = artifacts.filter((artifact) => !known.has(formatIdentity(artifact)));
  return fresh.length > 0 ? fresh : artifacts;
}

/**
 * Records the result of a release: history, good versions, known-bad ones, and the consequences of a revert
 * (docs/design/deploy.md#revert). Everything that it held or waited for becomes free.
 */
export function recordRelease(state: PipelineState, result: ReleaseResult, nowMs: number): PipelineState {
  const release = state.active.find(({ number }) => number === result.number);
  if (release === undefined) return state;
  const row = limitHistoryRow(historyRow(state, release, result));
  const booked = recordDeploys(state, release, listUnrecorded(release, result), nowMs);
  return {
    ...booked,
    good: withUndone(booked, release, result),
    active: booked.active.filter(({ number }) => number !== result.number),
    ready: state.ready.filter((deploy) => deploy.release !== result.number),
    deploys: releaseHolder(state.deploys, result.number),
    mutexes: Object.fromEntries(
      Object.entries(state.mutexes).map(([name, mutex]) => [name, releaseHolder(mutex, result.number)]),
    ),
    history: [...state.history, row].slice(-KEPT_RELEASES),
  };
}

/** The good deploys, with those that a rollback began to undo and that run on, because it never started or was itself reverted. */
function withUndone(
  { good, spec }: PipelineState,
  { undone = {} }: ActiveRelease,
  { deploys, neverStarted }: ReleaseResult,
): PipelineState['good'] {
  const runsOn = (action: string): boolean => {
    const outcomes = deploys.filter((deploy) => deploy.action === action).map(({ result }) => result.outcome);
    return neverStarted === true || (outcomes.length > 0 && outcomes.every((outcome) => outcome === 'reverted'));
  };
  const again = Object.entries(undone).filter(([action]) => spec.actions[action]?.type === 'deploy' && runsOn(action));
  const restored = again.map(([action, all]) => [action, [...(good[action] ?? []), ...all]] as const);
  return { ...good, ...Object.fromEntries(restored) };
}

/** The inputs and outputs of the pipeline's last release, with which `when: { changed: … }` compares. */
export const lastRanOn = ({ history }: Pick<PipelineState, 'history'>): readonly Artifact[] =>
  history.findLast(({ trigger, neverStarted }) => trigger.kind !== 'follow-on' && !neverStarted)?.artifacts ?? [];

/** Records one deploy of a release that continues, before another release may deploy. */
export function recordDeploy(
  state: PipelineState,
  number: number,
  deploy: DeployEndRecord,
  nowMs: number,
): PipelineState {
  const release = state.active.find((each) => each.number === number);
  if (release === undefined) return state;
  const booked = { ...release.booked, [deploy.action]: (release.booked?.[deploy.action] ?? 0) + 1 };
  const after = recordDeploys(state, release, [deploy], nowMs);
  return withRelease(after, number, { booked });
}

/** Records the good versions, the known-bad ones, and the consequences of a revert. */
function recordDeploys(
  state: PipelineState,
  release: ActiveRelease,
  deploys: readonly DeployEndRecord[],
  nowMs: number,
): PipelineState {
  const { number } = release;
  const result = { release, deploys };
  const base = {
    ...state,
    good: goodAfter(state, result, nowMs),
    inherited: updateInheritances(state, result),
    ...updateUses(state, result),
  };
  const after = { ...afterReverts(base, result, nowMs), ...computeDeployedAt(result, nowMs) };
  const counted = after.revertsInARow > state.revertsInARow ? withRelease(after, number, { reverted: true }) : after;
  return deploys.reduce((next, deploy) => addFollowOn(next, release, deploy, nowMs), counted);
}

/** A rollback or a follow-on brings nothing new, so it does not count here. */
function computeDeployedAt({ release, deploys }: Deploys, nowMs: number): Pick<PipelineState, 'deployedAt'> {
  const hasDeployed = deploys.some(({ result: { outcome } }) => outcome === 'succeeded');
  return bringsNews(release.trigger) && hasDeployed ? { deployedAt: formatTime(nowMs) } : {};
}

/** Deploys that are not recorded yet; those of each action come in order. */
export function listUnrecorded(
  { booked = {} }: Pick<ActiveRelease, 'booked'>,
  { deploys }: Pick<ReleaseResult, 'deploys'>,
): readonly DeployEndRecord[] {
  return deploys.filter(
    ({ action }, index) =>
      deploys.slice(0, index).filter((before) => before.action === action).length >= (booked[action] ?? 0),
  );
}

const withRelease = (state: PipelineState, number: number, patch: Partial<ActiveRelease>): PipelineState => ({
  ...state,
  active: state.active.map((release) => (release.number === number ? { ...release, ...patch } : release)),
});

/** The ends of a release's deploys. */
type Deploys = Pick<ReleaseResult, 'deploys'> & { readonly release: ActiveRelease };

function releaseHolder(mutex: Mutex, release: number): Mutex {
  if (mutex.holder?.owner !== String(release)) return mutex;
  return mutex.holder.requesters.reduce((held, requester) => leave(held, requester).mutex, mutex);
}

/** A follow-on only completes the version of another release. */
const goodAfter = ({ good }: PipelineState, { release, deploys }: Deploys, nowMs: number): PipelineState['good'] =>
  release.followOn ? good : deploys.reduce((after, deploy) => withDeploy(after, release, deploy, nowMs), good);

function withDeploy(
  good: PipelineState['good'],
  release: ActiveRelease,
  deploy: DeployEndRecord,
  nowMs: number,
): PipelineState['good'] {
  const { action, artifacts, result } = deploy;
  const earlier = good[action];
  if (result.outcome !== 'succeeded')
    return earlier === undefined ? good : { ...good, [action]: recordDisturbance(earlier, deploy, nowMs) };
  if (release.trigger.kind === 'undeploy') return withoutAction(good, action);
  const whole = artifacts.map(limitArtifact);
  const entry: GoodDeploy = {
    ...{ release: release.number, version: combineVersions(whole), artifacts: whole },
    ...pickHeld(result),
    since: standsSince(earlier?.at(-1), deploy) ?? formatTime(nowMs),
    ...(earlier !== undefined || result.beforeEach === undefined ? {} : { over: result.beforeEach }),
  };
  const before = earlier === undefined ? ranBefore(whole, result) : recordSuccessor(earlier, release, deploy, nowMs);
  // Where another pipeline had removed the units, they run something again.
  const after = [...before.filter(({ removed }) => !removed), entry].slice(-STATE_LIMITS.goodPerAction.max);
  return { ...good, [action]: withReplacement(after, release.replaced?.[action], nowMs) };
}

/** Nothing of it runs any more. */
function withoutAction(good: PipelineState['good'], action: string): PipelineState['good'] {
  const { [action]: _removed, ...others } = good;
  return others;
}

/**
 * The version of a fleet before the first release, as if a release 0 had brought it. If the version stands for several artifacts, it identifies none
 * of them.
 */
function ranBefore([artifact, ...others]: readonly Artifact[], result: DeployResult): readonly GoodDeploy[] {
  const { before: version } = result;
  if (artifact === undefined || others.length > 0 || version === undefined) return [];
  const { name, kind } = artifact;
  return [{ release: 0, version, artifacts: [{ name, kind, version, metadata: {} }], ...pickHeld(result) }];
}

const pickHeld = ({ held }: DeployResult): Pick<GoodDeploy, 'held'> => (held === undefined ? {} : { held });

/** Once a deploy has succeeded or reverted completely, there is no inheritance any more; a deploy that leaves units mixed adds to it. */
function updateInheritances({ inherited }: PipelineState, { release, deploys }: Deploys): PipelineState['inherited'] {
  return deploys.reduce((before, { action, result }) => {
    const { leaves } = pickInheritance(result);
    return leaves === undefined
      ? before
      : withInherited(before, action, leaves ?? withUpdatedUnits(before[action], release));
  }, inherited);
}

/** If the version of a deploy runs everywhere, only its own uses remain. */
function updateUses({ uses = {} }: PipelineState, { release, deploys }: Deploys): Pick<PipelineState, 'uses'> {
  const after = deploys.reduce((known, { action, result, uses: own = [] }) => {
    const isAll = findRunning(result, release.followOn !== undefined) === 'everywhere';
    const earlier = isAll ? [] : (known[action] ?? []);
    const all = [...new Set([...earlier, ...own])];
    return all.length === 0 && known[action] === undefined ? known : { ...known, [action]: all };
  }, uses);
  return after === uses ? {} : { uses: after };
}

function afterReverts(state: PipelineState, result: Deploys, nowMs: number): PipelineState {
  const { number, followOn, reverted: counted } = result.release;
  const reverted = result.deploys.filter(
    ({ action, result: { reverted: by } }, index) => by !== null && !cameThrough(result, action, index),
  );
  if (reverted.length === 0) {
    const deployed = result.deploys.some(({ result: { outcome } }) => outcome === 'succeeded');
    return deployed && !followOn ? { ...state, revertsInARow: 0 } : state;
  }
  const bad = reverted.filter(({ result: { reverted: by } }) => by?.bad === true);
  const goodOf = (action: string): readonly GoodDeploy[] => state.good[action] ?? [];
  const marked = bad.reduce(
    (next, { action, artifacts, result: { outcome, reason } }) =>
      markKnownBad(
        next,
        pickBlamed(
          artifacts,
          (followOn ? goodBefore(goodOf(action), artifacts) : goodOf(action).at(-1))?.artifacts ?? [],
        ),
        `release ${number}${outcome === 'reverted' ? ' was' : ':'} ${reason}`,
        nowMs,
      ),
    { ...state, revertsInARow: state.revertsInARow + (counted ? 0 : 1) },
  );
  const why = whyHold(
    marked,
    reverted.map(({ result: { reverted: by } }) => by?.by ?? ''),
  );
  return why === undefined || marked.held ? marked : holdPipeline(marked, 'service:conveyor', why, nowMs);
}

/** A later attempt of the same action has succeeded, so the version that was reverted before now runs in production. */
const cameThrough = ({ deploys }: Deploys, action: string, after: number): boolean =>
  deploys.slice(after + 1).some((later) => later.action === action && later.result.outcome === 'succeeded');

function whyHold({ spec, revertsInARow }: PipelineState, by: readonly string[]): string | undefined {
  if (spec.releases.onRevert === 'continue') return undefined;
  if (spec.releases.onRevert === 'hold') return 'a deploy was reverted';
  const person = by.find((who) => who !== 'health');
  if (person !== undefined) return `${person} reverted a deploy`;
  return revertsInARow >= 2 ? `${revertsInARow} reverts in a row` : undefined;
}

function historyRow({ spec }: PipelineState, release: ActiveRelease, result: ReleaseResult): HistoryRow {
  return {
    id: `${spec.pipeline}/${release.number}`,
    kind: 'release',
    pipeline: spec.pipeline,
    number: release.number,
    state: result.state,
    cause: result.cause,
    ...(result.causedBy === undefined ? {} : { causedBy: result.causedBy }),
    ...(release.rerunOf === undefined ? {} : { rerunOf: release.rerunOf, place: getReleasePlace(release) }),
    trigger: release.trigger,
    startedAt: release.createdAt,
    endedAt: result.endedAt,
    artifacts: result.artifacts,
    durationMs: Date.parse(result.endedAt) - Date.parse(release.createdAt),
    ...(result.neverStarted ? { neverStarted: true } : {}),
    ...(release.followOn === undefined ? {} : { followOn: release.followOn }),
    deploys: result.deploys.map(deployRow),
  };
}

/** How a deploy of a release ended, as the history of its pipeline shows it. */
export function deployRow({ action, result }: DeployEndRecord): HistoryRow['deploys'][number] {
  const { outcome, classification, version, progress, skipped, reverted, overridden } = result;
  return {
    action,
    outcome,
    classification,
    version,
    ...(progress === undefined ? {} : { progress }),
    ...(skipped === undefined ? {} : { skipped }),
    ...(reverted === null ? {} : { reverted }),
    ...(overridden === undefined ? {} : { overridden }),
  };
}
