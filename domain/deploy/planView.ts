import { formatAmount, tasksOf, type PhaseAmount } from '../fleet/amount';
import type { Unit } from '../fleet/unit';
import type { PipelineSpec } from '../spec/pipeline';
import { formatTime } from '../text';
import type { PlanView } from '../views';
import { cumulativeShares, patternOf } from './pattern';
import { planDeploy, plannedTasks, unitsOf, PlanError, type DeployPlan, type PhasePlan } from './plan';

/** What an estimate rests on. In ms. */
export interface PlanTimes {
  readonly now: number;
  /** How long the updates of one phase take. */
  readonly updateTimeMs: number;
}

/**
 * What `conveyor plan` prints: the phases with the tasks that they reach, and when each would end if nothing goes wrong.
 * @throws PlanError as `planDeploy`, and when the action is no deploy.
 */
export function planView(spec: PipelineSpec, action: string, units: readonly Unit[], times: PlanTimes): PlanView {
  const deploy = spec.actions[action];
  if (deploy?.type !== 'deploy') throw new PlanError(`${action} is no deploy action of ${spec.pipeline}`);
  const plan = planDeploy(deploy.with, units, [], '');
  const shares = cumulativeShares(plan, units);
  const schedule = scheduleOf(plan, times);
  return {
    pipeline: spec.pipeline,
    action,
    pattern: patternOf(plan, units, deploy.with.mode),
    phases: plan.phases.map((phase, index) => ({
      index,
      name: phase.name,
      scope: phase.scope,
      amount: formatAmount(phase.amount),
      effectivePercent: Math.round((shares[index] ?? 0) * 1000) / 10,
      units: unitsOf(phase, units).map((unit) => ({ id: unit.id, tasks: plannedTasks(phase, unit) })),
      startsAt: schedule[index]?.startsAt ?? null,
      updatedAt: schedule[index]?.updatedAt ?? null,
      bakedAt: schedule[index]?.bakedAt ?? null,
    })),
    finishesAt: schedule.at(-1)?.bakedAt ?? null,
    warnings: plan.phases.flatMap((phase) => warningOf(phase, unitsOf(phase, units))),
  };
}

function scheduleOf(plan: DeployPlan, { now, updateTimeMs }: PlanTimes) {
  let at = now;
  return plan.phases.map(({ bakeMs }) => {
    const startsAt = formatTime(at);
    const updated = at + updateTimeMs;
    at = updated + bakeMs;
    return { startsAt, updatedAt: formatTime(updated), bakedAt: formatTime(at) };
  });
}

function warningOf(phase: PhasePlan, units: readonly Unit[]): PlanView['warnings'] {
  const misleading = misleadingPercent(
    phase.amount,
    units.map(({ size }) => size),
  );
  if (misleading === undefined) return [];
  const effective = Math.round(misleading.effective * 10) / 10;
  return [
    {
      code: 'misleading-percent',
      message: `${misleading.written}% in phase ${phase.name} means ${effective}% of these units, since each gives at least one task`,
    },
  ];
}

/** How many times the written percentage may the effective one be before people are told. */
const MISLEADING_FACTOR = 2;

/**
 * A percentage that means much more of the units at hand than it says: 1 % of units with one task is all of them. Undefined
 * when it means about what it says. Needs the sizes of units, so `plan` asks, not `lint`.
 */
export function misleadingPercent(
  amount: PhaseAmount,
  sizes: readonly number[],
): { written: number; effective: number } | undefined {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (!('percent' in amount) || total === 0) return undefined;
  const reached = sizes.reduce((sum, size) => sum + tasksOf(amount, size), 0);
  const effective = (reached / total) * 100;
  return effective > amount.percent * MISLEADING_FACTOR ? { written: amount.percent, effective } : undefined;
}
