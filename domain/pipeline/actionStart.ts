import { STATE_LIMITS } from '../limits';
import { listActionWindows } from '../release/openTimes';
import { FREE_MUTEX, request, type Mutex } from '../mutex';
import { findFollowOn } from './followOn';
import { placeIn } from './place';
import type { PipelineState, ReadyAction } from './state';
import { isUndeploy } from './undeploy';

export type ActionRef = Pick<ReadyAction, 'release' | 'action'>;

/** The action holds the locks that it asked for, and no older release may begin the same action any more. */
export function beginAction(state: PipelineState, ready: ReadyAction): PipelineState {
  const mine = { owner: String(ready.release), requester: formatRequester(ready) };
  const take = (mutex: Mutex = FREE_MUTEX): Mutex => request(mutex, mine).mutex;
  const held = (ready.mutex ?? []).map((group) => [group, take(state.mutexes[group])] as const);
  const mutexes = { ...state.mutexes, ...Object.fromEntries(held) };
  if (!isDeploy(ready)) return { ...state, mutexes };
  return {
    ...state,
    mutexes,
    deploys: take(state.deploys),
    newestBegun: findFollowOn(state, ready.release) ? state.newestBegun : newest(state, ready),
    active: state.active.map((release) =>
      release.number === ready.release ? { ...release, deploying: true as const } : release,
    ),
  };
}

/** For a window that admits only a limited number of deploys: each release that waits for it once, with its latest beginning. */
export function recordWindowDeploy(
  state: PipelineState,
  { release, action, rollback, emergency }: ReadyAction,
  nowMs: number,
): PipelineState {
  const isCounted = listActionWindows(state.spec.actions[action] ?? {}).some(
    ({ maxDeploys }) => maxDeploys !== undefined,
  );
  if (!isCounted || rollback || emergency || findFollowOn(state, release) || isUndeploy(state, release)) return state;
  const others = (state.begunAt?.[action] ?? []).filter(([number]) => number !== release);
  const all = [...others, [release, nowMs] as const].slice(-STATE_LIMITS.begunAt.max);
  const known = Object.entries(state.begunAt ?? {}).filter(([name]) => state.spec.actions[name] !== undefined);
  return { ...state, begunAt: { ...Object.fromEntries(known), [action]: all } };
}

/** The key under which an action holds the pipeline's exclusions. */
export const formatRequester = ({ release, action }: ActionRef): string => `${release}/${action}`;

export const newest = (state: PipelineState, { release, action }: ActionRef): PipelineState['newestBegun'] => ({
  ...state.newestBegun,
  [action]: Math.max(state.newestBegun[action] ?? 0, placeIn(state, release)),
});

export const isDeploy = ({ kind = 'deploy' }: Pick<ReadyAction, 'kind'>): boolean => kind === 'deploy';
