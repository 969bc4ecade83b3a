import { isUrgent } from '../release/urgent';
import { followOnOf } from './followOn';
import type { Obstacle } from './obstacles';
import { placeIn, placeOf } from './place';
import type { ActiveRelease, PipelineState, ReadyAction } from './state';

/** A release that deploys and has to make way. */
export interface Overtaking {
  readonly release: number;
  readonly by: number;
  readonly why: 'superseded' | 'preempted';
}

/** The deploying release that a ready one makes go away: a rollback and an emergency any other, with `supersede: running` a newer one. */
export function overtakenBy(state: PipelineState, ready: ReadyAction, { by }: Obstacle): Overtaking[] {
  if (by !== 'deploy' || followOnOf(state, ready.release)) return [];
  const holder = state.active.find(({ number }) => String(number) === state.deploys.holder?.owner);
  const now = ready.emergency === true || ready.rollback;
  const why = now ? ('preempted' as const) : ('superseded' as const);
  if (holder === undefined || !canBeOvertaken(state, holder, why)) return [];
  const may = now || (state.spec.releases.supersede === 'running' && placeIn(state, ready.release) > placeOf(holder));
  return may ? [{ release: holder.number, by: ready.release, why }] : [];
}

/** Once is enough, but a deploy that was to stop after its phase may have to stop now; what brings things back is never in the way. */
function canBeOvertaken(
  { active }: PipelineState,
  { trigger, overtakenBy: asker }: ActiveRelease,
  why: Overtaking['why'],
): boolean {
  if (isUrgent(trigger)) return false;
  const wasPreempted = active.some((other) => other.number === asker && isUrgent(other.trigger));
  return asker === undefined || (why === 'preempted' && !wasPreempted);
}

export const withOvertaken = (state: PipelineState, overtaken: readonly Overtaking[]): PipelineState => ({
  ...state,
  active: state.active.map((release) => {
    const found = overtaken.find(({ release: number }) => number === release.number);
    return found ? { ...release, overtakenBy: found.by } : release;
  }),
});
