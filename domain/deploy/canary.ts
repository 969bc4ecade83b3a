import type { DeploySpec } from '../spec/deploy';
import type { CanaryAction } from '../spec/pipeline';
import type { DeployInput, DeployRecord } from './state';
import { plural } from '../text';
import { computeTotals } from './counts';
import { unitNames } from './unavailable';

/** The spec of a canary's deploy: its own checks, and no pacing. */
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

/**
 * The reason why a canary has shown nothing: it had no task of its own. Null if it had one, or if a person skipped it.
 */
export function explainEmptyCanary(
  { phases, fleet, commands }: Pick<DeployRecord, 'phases' | 'fleet' | 'commands'>,
  { version }: Pick<DeployInput, 'version'>,
): string | null {
  const isSkipped = commands.some(({ verb, accepted }) => verb === 'skip-phase' && accepted);
  const totals = phases.map(computeTotals);
  if (isSkipped || totals.some(({ live }) => live > 0)) return null;
  if (fleet === null || fleet.units === 0) return `${NONE}: there are no units`;
  const known = 'units' in fleet.snapshot ? fleet.snapshot.units : [];
  const names = known.length > 0 ? unitNames(known.map(({ id }) => id)) : plural(fleet.units, 'unit');
  if (totals.some(({ targeted }) => targeted > 0)) return `${NONE}: those of ${names} are gone`;
  const isEverywhere = known.length > 0 && known.every((unit) => !unit.mixed && unit.version === version);
  return isEverywhere
    ? `${NONE}: all of ${names} already run ${version}`
    : `${NONE}: those of ${names} already run ${version} or belong to other canaries`;
}

const NONE = 'no task was left for the canary';
