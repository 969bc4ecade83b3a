import { planDeploy } from '../domain/deploy/plan';
import { PlanError } from '../domain/deploy/planLimits';
import { findMisleadingPhases } from '../domain/deploy/planView';
import { ConveyorError } from '../domain/errors';
import { listDeployActions, type NamedDeploy } from '../domain/spec/deployActions';
import type { PipelineRules } from '../domain/spec/parse';
import { warningAt, type Finding } from '../domain/spec/problem';
import { findFleetFile, readUnits } from './fleetFile';

const PERCENT_HINT =
  'conveyor plan shows how many tasks each phase takes; write a number of tasks, or leave the phase out';

/** Finds percentages that round to far more than they state, for deploys whose fleet file is next to the pipeline file. */
export const createPercentRules =
  (file: string): PipelineRules =>
  (spec) =>
    listDeployActions(spec).flatMap((deploy) => checkFleetBeside(file, deploy));

function checkFleetBeside(file: string, [name, { with: deploy }]: NamedDeploy): readonly Finding[] {
  try {
    const beside = findFleetFile(file, deploy.config);
    const units = beside === undefined ? [] : readUnits(beside, deploy.config);
    const misleading = units.length === 0 ? [] : findMisleadingPhases(planDeploy(deploy, units, [], ''), units);
    return misleading.map(({ code, message }) =>
      warningAt(['actions', name, 'with', 'phases'], code, message, PERCENT_HINT),
    );
  } catch (error) {
    // `conveyor plan` reports errors of a plan or of a fleet.
    if (error instanceof PlanError || error instanceof ConveyorError) return [];
    throw error;
  }
}
