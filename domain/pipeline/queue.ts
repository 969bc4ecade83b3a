import type { ReleaseResult } from '../release/state';
import { skipsTheQueue } from '../release/urgent';
import { formatTime } from '../text';
import { settled } from './books';
import { whyDropped } from './followOn';
import type { ActiveRelease, PipelineState } from './state';

/** How many releases may wait to start; more would outgrow what a workflow can carry. */
export const MAX_QUEUED = 200;

const isQueued = ({ state }: ActiveRelease): boolean => state === 'queued';

/** Releases that may start now, oldest first, before all those that need no room; while frozen only rollbacks. */
export function startable(state: PipelineState, nowMs: number): ActiveRelease[] {
  const { active, spec, frozen } = state;
  const queued = active.filter(isQueued);
  if (frozen) return queued.filter(({ trigger }) => trigger.kind === 'rollback');
  const running = active.filter((release) => release.state === 'running' && !skipsTheQueue(release.trigger)).length;
  const room = Math.max(0, spec.releases.maxActive - running);
  const regular = queued.filter((release) => !skipsTheQueue(release.trigger) && hasOpened(state, release, nowMs));
  return [...queued.filter(({ trigger }) => skipsTheQueue(trigger)), ...regular.slice(0, room)];
}

/** With `gates: releases` the calendar says when releases start. */
const gatesReleases = ({ spec: { schedule } }: PipelineState): boolean =>
  schedule.mode === 'calendar' && schedule.gates === 'releases';

const hasOpened = (state: PipelineState, { opensAtMs }: ActiveRelease, nowMs: number): boolean =>
  !gatesReleases(state) || (typeof opensAtMs === 'number' && opensAtMs <= nowMs);

/** Queued releases whose opening has to be looked up. */
export const unscheduled = (state: PipelineState): ActiveRelease[] =>
  gatesReleases(state)
    ? state.active.filter(
        (release) => isQueued(release) && !skipsTheQueue(release.trigger) && release.opensAtMs === undefined,
      )
    : [];

/** Why a queued release does not start, and until when if that is known. */
export function whyQueued(
  state: PipelineState,
  release: ActiveRelease,
  nowMs: number,
): { why: string; untilMs?: number } {
  if (state.frozen) return { why: `the pipeline is frozen by ${state.frozen.actor}: ${state.frozen.reason}` };
  if (gatesReleases(state) && release.opensAtMs === null) return { why: 'the calendar never opens' };
  if (gatesReleases(state) && typeof release.opensAtMs === 'number' && release.opensAtMs > nowMs)
    return { why: 'waiting for the calendar', untilMs: release.opensAtMs };
  return { why: `${state.spec.releases.maxActive} releases run already (releases.maxActive)` };
}

/**
 * Releases that never start, since a newer one says the same later: of those that wait for the same opening of the calendar all but the
 * newest, and the oldest of a line that has grown too long. With `supersede: never` each has its turn.
 */
export function thinned(before: PipelineState, nowMs: number): PipelineState {
  const state = withoutDropped(before, nowMs);
  if (state.spec.releases.supersede === 'never') return state;
  const waiting = state.active.filter((release) => isQueued(release) && !skipsTheQueue(release.trigger));
  const newest = waiting.at(-1);
  if (newest === undefined) return state;
  const gated = gatesReleases(state) ? waiting.slice(0, -1) : [];
  const surplus = waiting.slice(0, Math.max(0, waiting.length - MAX_QUEUED));
  return [...new Set([...gated, ...surplus])].reduce(
    (next, release) =>
      settled(
        inheriting(next, release, newest),
        { ...neverStarted(release, 'superseded', nowMs), causedBy: newest.number },
        nowMs,
      ),
    state,
  );
}

/** Follow-ons that nobody needs any more, before they started. */
const withoutDropped = (state: PipelineState, nowMs: number): PipelineState =>
  state.active.filter(isQueued).reduce((next, release) => {
    const why = whyDropped(next, release);
    if (why === undefined) return next;
    if (why.kind === 'bad-package') return settled(next, neverStarted(release, 'bad-package', nowMs), nowMs);
    return settled(next, { ...neverStarted(release, 'superseded', nowMs), causedBy: why.by }, nowMs);
  }, state);

/** The newer release starts when the older one would have. */
function inheriting(state: PipelineState, { opensAtMs }: ActiveRelease, newest: ActiveRelease): PipelineState {
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

/** Why a release cannot be cancelled in the queue; undefined when it can. */
export function whyNotQueued({ active }: PipelineState, number: number): string | undefined {
  const release = active.find((each) => each.number === number);
  if (release === undefined) return 'it has ended';
  return isQueued(release) ? undefined : 'it has started; try again';
}

/** A person cancelled a release before it started. */
export function cancelQueued(state: PipelineState, number: number, nowMs: number): PipelineState {
  const release = state.active.find((each) => each.number === number && isQueued(each));
  return release ? settled(state, neverStarted(release, 'operator', nowMs), nowMs) : state;
}

const neverStarted = (
  { number, artifacts }: ActiveRelease,
  cause: 'superseded' | 'operator' | 'bad-package',
  nowMs: number,
): ReleaseResult => ({
  number,
  state: 'cancelled',
  cause,
  artifacts,
  deploys: [],
  endedAt: formatTime(nowMs),
});

/** Whether the line is full: under `supersede: never` nothing is dropped, so nothing more is taken. */
export const isFull = ({ spec, active }: PipelineState): boolean =>
  spec.releases.supersede === 'never' && active.filter(isQueued).length >= MAX_QUEUED;
