import { isUrgent } from '../release/urgent';
import { findFollowOn } from './followOn';
import type { Obstacle } from './obstacles';
import { placeIn, getReleasePlace } from './place';
import type { ActiveRelease, PipelineState, ReadyAction } from './state';

/** A deploying release that has to make way. */
export interface OvertakenRelease {
  readonly release: number;
  readonly by: number;
  readonly why: 'superseded' | 'preempted';
}

/**
 * The deploying release that a ready one overtakes: a rollback and an emergency overtake any other; with `supersede: running` a newer release
 * overtakes an older one.
 */
export function overtakenBy(state: PipelineState, ready: ReadyAction, { by }: Obstacle): OvertakenRelease[] {
  if (by !== 'deploy' || findFollowOn(state, ready.release)) return [];
  const holder = state.active.find(({ number }) => String(number) === state.deploys.holder?.owner);
  const now = ready.emergency === true || ready.rollback;
  const why = now ? ('preempted' as const) : ('superseded' as const);
  if (holder === undefined || !canBeOvertaken(state, holder, why)) return [];
  const may =
    now || (state.spec.releases.supersede === 'running' && placeIn(state, ready.release) > getReleasePlace(holder));
  return may ? [{ release: holder.number, by: ready.release, why }] : [];
}

/** A deploy is asked once, except that one that was to stop after its phase may have to stop now. A rollback is never asked. */
function canBeOvertaken(
  { active }: PipelineState,
  { trigger, overtakenBy: asker }: ActiveRelease,
  why: OvertakenRelease['why'],
): boolean {
  if (isUrgent(trigger)) return false;
  const wasPreempted = active.some((other) => other.number === asker && isUrgent(other.trigger));
  return asker === undefined || (why === 'preempted' && !wasPreempted);
}

export const withOvertaken = (state: PipelineState, overtaken: readonly OvertakenRelease[]): PipelineState => ({
  ...state,
  active: state.active.map((release) => {
    const found = overtaken.find(({ release: number }) => number === release.number);
    return found ? { ...release, overtakenBy: found.by } : release;
  }),
});
