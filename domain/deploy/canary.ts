import type { DeploySpec } from '../spec/deploy';
import type { CanaryAction } from '../spec/pipeline';

/** What a canary is deployed with: its own checks, and nothing of a deploy's pacing. */
export const canarySpec = ({ pushType, config, healthChecks, healthInterval }: CanaryAction['with']): DeploySpec => ({
  pushType,
  config,
  healthChecks,
  healthInterval,
  onUnhealthy: 'revert',
  mode: 'sequential',
  lockstep: false,
  pauseBy: 'unit',
  onUnitUnavailable: 'pause',
  allowEmpty: false,
});
