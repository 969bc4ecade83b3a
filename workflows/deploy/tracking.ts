import type { Tracking } from '../../activities/updates';
import type { PhasePlan } from '../../domain/deploy/plan';
import type { DeployRun } from './run';

/** How an update is looked at; in lockstep each unit has to meet the criterion by itself. A revert waits for nothing out of reach. */
export const trackingOf = (
  { input }: DeployRun,
  update: Pick<Tracking, 'updateIds' | 'selection' | 'withoutGone' | 'earlier'>,
  { success, kind }: Pick<PhasePlan, 'success' | 'kind'>,
): Tracking => ({
  ...{ ...update, success },
  ...(input.spec.lockstep ? { each: true } : {}),
  ...(kind === 'revert' ? { unreachable: 'ends' as const } : {}),
});
