import { FLEET_LIMITS } from '../fleet/limits';
import type { Unit } from '../fleet/unit';
import type { DeploySpec } from '../spec/deploy';

/** The reason why a plan cannot be made; the message is for the owner of the pipeline. */
export class PlanError extends Error {
  override readonly name = 'PlanError';
}

/** @throws PlanError if a deploy cannot update this fleet, with any phases. */
export function refuseFleet({ pushType, allowEmpty, lockstep }: DeploySpec, units: readonly Unit[]): void {
  refuseLargeFleet(pushType, units);
  if (lockstep) refuseManyInStep(pushType, units.length);
  if (units.length === 0 && !allowEmpty)
    throw new PlanError(`${pushType} found no units to deploy to (allowEmpty: true permits that)`);
}

/** @throws PlanError if there are more than one deploy can update. */
export function refuseManyUnits(pushType: string, units: number): void {
  const { units: most } = FLEET_LIMITS;
  if (units > most)
    throw new PlanError(
      `${pushType} has more than ${most} units, the most that one deploy can update: split the service, or merge units`,
    );
}

/** Refuses a fleet that is larger than one deploy can update, or whose units have forbidden names. */
function refuseLargeFleet(pushType: string, units: readonly Unit[]): void {
  const { idsLength } = FLEET_LIMITS;
  refuseManyUnits(pushType, units.length);
  const seen = new Set<string>();
  for (const unit of units) {
    const odd = describeOddity(unit) ?? (seen.has(unit.id) ? 'is named twice' : undefined);
    if (odd !== undefined) throw new PlanError(`${pushType}: unit ${unit.id.slice(0, 200)} ${odd}`);
    seen.add(unit.id);
  }
  const length = units.reduce((sum, { id }) => sum + id.length, 0);
  if (length > idsLength)
    throw new PlanError(
      `${pushType}: the unit names total ${length} characters; the limit is ${idsLength}: shorten them`,
    );
}

function describeOddity({ id, labels }: Unit): string | undefined {
  const { unitIdLength, labels: most, labelLength } = FLEET_LIMITS;
  const given = Object.entries(labels);
  if (id === '' || id.length > unitIdLength)
    return `has a name of ${id.length} characters; 1 to ${unitIdLength} are allowed`;
  if (given.length > most) return `has ${given.length} labels; the limit is ${most}`;
  const long = given.find(([key, value]) => key.length > labelLength || value.length > labelLength);
  return long && `has a label ${long[0].slice(0, 50)} of more than ${labelLength} characters`;
}

/** The counts of every unit go through the workflow of the deploy, and every unit waits for all others. @throws PlanError if there are too many. */
export function refuseManyInStep(pushType: string, units: number): void {
  const { lockstepUnits: most } = FLEET_LIMITS;
  if (units > most)
    throw new PlanError(
      `${pushType} has ${units} units, and a deploy in lockstep updates at most ${most}: make units of several of them, or leave lockstep out`,
    );
}

export function refuseManyPhases(count: number): void {
  if (count > FLEET_LIMITS.phases)
    throw new PlanError(
      `the plan has ${count} phases; the limit is ${FLEET_LIMITS.phases} (forEach makes one for each value of its label)`,
    );
}

export function refuseNoGroups({ mode, pauseBy, allowEmpty }: DeploySpec, units: readonly Unit[]): void {
  if (mode !== 'parallel' || pauseBy === 'unit' || allowEmpty) return;
  if (!units.some(({ labels }) => labels[pauseBy] !== undefined))
    throw new PlanError(`no unit has the label ${pauseBy} that pauseBy names`);
}
