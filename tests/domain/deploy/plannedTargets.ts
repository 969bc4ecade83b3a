import { targetsFor, pickPhaseUnits, toWant, type DeployPlan, type PhasePlan } from '../../../domain/deploy/plan';
import type { Unit } from '../../../domain/fleet/unit';

/** The request of a phase for each unit in its scope, as the activities put it together. */
export const targetsOf = (phase: PhasePlan, units: readonly Unit[], plan: DeployPlan) =>
  targetsFor(pickPhaseUnits(phase, units), toWant(phase, plan));
