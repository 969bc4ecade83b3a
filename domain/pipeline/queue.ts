import { STATE_LIMITS } from '../limits';
import type { ReleaseResult } from '../release/state';
import { skipsTheQueue } from '../release/urgent';
import { conjugate, formatTime, plural } from '../text';
import { recordRelease } from './recordOutcome';
import { listExpiredReleases } from './expiry';
import { whyDropped } from './followOn';
import { whyFrozen } from './freeze';
import { byPlace } from './place';
import { isQueued, startsWithin, countSurplus } from './room';
import type { ActiveRelease, PipelineState } from './state';

/** Releases that wait for their turn to start, oldest first; a rerun has the place of the release that it repeats. */
const listQueuedReleases = ({ active }: Pick<PipelineState, 'active'>): ActiveRelease[] =>
  active.filter((release) => isQueued(release) && !skipsTheQueue(release.trigger)).sort(byPlace);

/** Releases that may start now, oldest first, preceded by those that need no room; only rollbacks during a freeze. */
export function startable(state: PipelineState, nowMs: number): ActiveRelease[] {
  const { active, spec, frozen } = state;
  const queued = active.filter(isQueued);
  if (frozen) return queued.filter(({ trigger }) => trigger.kind === 'rollback');
  const running = active.filter((release) => release.state === 'running' && !skipsTheQueue(release.trigger)).length;
  const room = Math.max(0, spec.releases.maxActive - running);
  const regular = listQueuedReleases(state).filter((release) => hasOpened(state, release, nowMs));
  const fitting = startsWithin(state, regular.slice(0, room));
  return [...queued.filter(({ trigger }) => skipsTheQueue(trigger)), ...regular.slice(0, fitting)];
}

/** With `gates: releases` the calendar determines when releases start. */
const gatesReleases = ({ spec: { schedule } }: PipelineState): boolean =>
  schedule.mode === 'calendar' && schedule.gates === 'releases';

const hasOpened = (state: PipelineState, { opensAtMs }: ActiveRelease, nowMs: number): boolean =>
  !gatesReleases(state) || (typeof opensAtMs === 'number' && opensAtMs <= nowMs);

/** Queued releases whose opening has to be looked up. */
export const listUnscheduledReleases = (state: PipelineState): ActiveRelease[] =>
  gatesReleases(state) ? listQueuedReleases(state).filter(({ opensAtMs }) => opensAtMs === undefined) : [];

/** The reason why a queued release does not start, and the end of the wait if it is known. */
export function whyQueued(
  state: PipelineState,
  release: ActiveRelease,
  nowMs: number,
): { why: string; untilMs?: number } {
  const frozen = whyFrozen(state);
  if (frozen) return frozen;
  if (gatesReleases(state) && release.opensAtMs === null) return { why: 'the calendar never opens' };
  if (gatesReleases(state) && typeof release.opensAtMs === 'number' && release.opensAtMs > nowMs)
    return { why: 'waiting for the calendar', untilMs: release.opensAtMs };
  const { maxActive } = state.spec.releases;
  const running = state.active.filter((other) => !isQueued(other) && !skipsTheQueue(other.trigger)).length;
  if (running < maxActive && startsWithin(state, [release]) === 0)
    return {
      why: `${plural(running, 'release')} ${conjugate(running, 'run')} already, which is all that there is room for`,
    };
  return { why: `${plural(maxActive, 'release')} ${conjugate(maxActive, 'run')} already (releases.maxActive)` };
}

/**
 * Removes releases that never start. If several wait for the same opening of the calendar, only the newest stays. A line that has grown too
 * long loses its oldest, and expired releases go. With `supersede: never` each release has its turn.
 */
export function thinQueue(before: PipelineState, nowMs: number): PipelineState {
  const state = withoutExpired(withoutDropped(before, nowMs), nowMs);
  if (state.spec.releases.supersede === 'never') return state;
  const waiting = listQueuedReleases(state);
  const newest = waiting.at(-1);
  if (newest === undefined) return state;
  const gated = gatesReleases(state) ? waiting.slice(0, -1) : [];
  const surplus = waiting.slice(0, countSurplus(waiting));
  return supersedeReleases(state, [...new Set([...gated, ...surplus])], newest, nowMs);
}

/** Removes follow-ons that are not needed any more and have not started. */
const withoutDropped = (state: PipelineState, nowMs: number): PipelineState =>
  state.active.filter(isQueued).reduce((next, release) => {
    const why = whyDropped(next, release);
    if (why === undefined) return hasFewFollowOns(next) ? next : withoutFollowOn(next, release, nowMs);
    if (why.kind === 'bad-package') return recordRelease(next, neverStarted(release, 'bad-package', nowMs), nowMs);
    return recordRelease(next, { ...neverStarted(release, 'superseded', nowMs), causedBy: why.by }, nowMs);
  }, state);

/** Removes releases that have waited too long, even in a freeze and under `supersede: never`. */
const withoutExpired = (state: PipelineState, nowMs: number): PipelineState =>
  listExpiredReleases(state, nowMs).reduce(
    (next, release) => recordRelease(next, neverStarted(release, 'expired', nowMs), nowMs),
    state,
  );

/** Dropped follow-ons end soon. Until then, no more than a limited number may exist. */
const hasFewFollowOns = ({ active }: PipelineState): boolean =>
  active.filter(({ followOn }) => followOn !== undefined).length <= STATE_LIMITS.followOns.max;

/** The history shows the units that were left behind, and how to update them. */
const withoutFollowOn = (state: PipelineState, release: ActiveRelease, nowMs: number): PipelineState =>
  release.followOn ? recordRelease(state, neverStarted(release, 'superseded', nowMs), nowMs) : state;

/** The newer release starts at the time of the older one. */
function inheritOpening(state: PipelineState, { opensAtMs }: ActiveRelease, newest: ActiveRelease): PipelineState {
  if (typeof opensAtMs !== 'number') return state;
  const earlier = (release: ActiveRelease): ActiveRelease => ({
    ...release,
    opensAtMs: typeof release.opensAtMs === 'number' ? Math.min(release.opensAtMs, opensAtMs) : opensAtMs,
  });
  return {
    ...state,
    active: state.active.map((release) => (release.number === newest.number ? earlier(release) : release)),
  };
}

/** The reason why a release cannot be cancelled in the queue; undefined if it can. */
export function whyNotQueued({ active }: PipelineState, number: number): string | undefined {
  const release = active.find((each) => each.number === number);
  if (release === undefined) return 'it has ended';
  return isQueued(release) ? undefined : 'it has started; try again';
}

/** A person cancelled a release before it started. */
export function cancelQueued(state: PipelineState, number: number, nowMs: number): PipelineState {
  const release = state.active.find((each) => each.number === number && isQueued(each));
  return release ? recordRelease(state, neverStarted(release, 'operator', nowMs), nowMs) : state;
}

const neverStarted = (
  { number, artifacts }: ActiveRelease,
  cause: 'superseded' | 'operator' | 'bad-package' | 'expired',
  nowMs: number,
): ReleaseResult => ({
  number,
  state: 'cancelled',
  cause,
  artifacts,
  deploys: [],
  endedAt: formatTime(nowMs),
  neverStarted: true,
});

/**
 * The reason why the line does not take a release: under `supersede: never` no release is dropped, so one that does not fit is
 * refused.
 */
export function whyFull(state: PipelineState, release: ActiveRelease): string | undefined {
  const line = listQueuedReleases(state);
  if (state.spec.releases.supersede !== 'never' || countSurplus([...line, release]) === 0) return undefined;
  return `${plural(line.length, 'release')} ${conjugate(line.length, 'wait')} already, and with supersede: never none of them is dropped`;
}

/** If a line has grown too long, its oldest releases make way at once, before the next is admitted. */
export function withoutSurplus(state: PipelineState, nowMs: number): PipelineState {
  const line = listQueuedReleases(state);
  const newest = line.at(-1);
  if (newest === undefined || state.spec.releases.supersede === 'never') return state;
  return supersedeReleases(state, line.slice(0, countSurplus(line)), newest, nowMs);
}

const supersedeReleases = (
  state: PipelineState,
  releases: readonly ActiveRelease[],
  newest: ActiveRelease,
  nowMs: number,
): PipelineState =>
  releases.reduce(
    (next, release) =>
      recordRelease(
        inheritOpening(next, release, newest),
        { ...neverStarted(release, 'superseded', nowMs), causedBy: newest.number },
        nowMs,
      ),
    state,
  );
