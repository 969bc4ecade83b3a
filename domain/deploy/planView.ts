import type { WindowState } from '../calendar/window';
import { formatAmount, tasksOf, type PhaseAmount } from '../fleet/amount';
import { inScope } from '../fleet/scope';
import type { Unit } from '../fleet/unit';
import { describeCheck } from '../health/describe';
import { longestLookback } from '../health/lookback';
import { getOnClose, toOpenTimes, withBlackouts, type OpenTimes } from '../release/openTimes';
import type { DeployAction, PipelineSpec } from '../spec/pipeline';
import { formatDuration, formatTime } from '../text';
import type { PlanView } from '../views';
import { estimate } from './estimate';
import { cumulativeShares, classifyPattern, findReachedUnits } from './pattern';
import { planDeploy, countPlannedTasks, pickPhaseUnits, type DeployPlan, type PhasePlan } from './plan';
import { PlanError } from './planLimits';

/** The basis of an estimate, in ms. */
export interface PlanTimes {
  /** The time at which it begins, or after which it begins as soon as it may. */
  readonly now: number;
  /** The duration of the updates of one phase. */
  readonly updateTimeMs: number;
  /** The duration was neither stated nor found in a past deploy. */
  readonly assumed?: boolean;
  /** Further facts about its beginning. */
  readonly warnings?: PlanView['warnings'];
  /** The state of an action's window at a moment. */
  readonly openingAt: (times: OpenTimes, atMs: number) => WindowState;
}

/**
 * The output of `conveyor plan`: the phases with the tasks that they reach, and the end of each if nothing goes wrong.
 * @throws PlanError like `planDeploy`, and if the action is not a deploy.
 */
export function planView(spec: PipelineSpec, action: string, units: readonly Unit[], times: PlanTimes): PlanView {
  const deploy = spec.actions[action];
  if (deploy?.type !== 'deploy') throw new PlanError(`${action} is not a deploy action of ${spec.pipeline}`);
  const { expireAfter } = spec.releases;
  const plan = planDeploy(deploy.with, units, [], '');
  const shares = cumulativeShares(plan, units);
  const estimated = estimatePhaseTimes(plan, units, withBlackouts(spec, deploy), times);
  return {
    pipeline: spec.pipeline,
    action,
    pattern: classifyPattern(plan, units),
    ...(deploy.soak === undefined ? {} : { soak: { ...deploy.soak, forMs: deploy.soak.for } }),
    ...(expireAfter === undefined ? {} : { expireAfterMs: expireAfter }),
    phases: plan.phases.map((phase, index) => ({
      index,
      name: phase.name,
      scope: phase.scope,
      amount: formatAmount(phase.amount),
      effectivePercent: Math.round((shares[index] ?? 0) * 1000) / 10,
      units: pickPhaseUnits(phase, units).map((unit) => ({ id: unit.id, tasks: countPlannedTasks(phase, unit) })),
      ...{ startsAt: null, updatedAt: null, bakedAt: null, ...estimated[index] },
    })),
    checks: deploy.with.healthChecks.map((check) => ({ name: check.name, rule: describeCheck(check, deploy.with) })),
    finishesAt: estimated.at(-1)?.bakedAt ?? null,
    warnings: [
      ...(times.warnings ?? []),
      ...findMisleadingPhases(plan, units),
      ...findUncountedSteps(plan),
      ...assumption(times),
    ],
  };
}

type EstimatedPhaseTimes = Pick<PlanView['phases'][number], 'startsAt' | 'updatedAt' | 'bakedAt'>;

function estimatePhaseTimes(
  plan: DeployPlan,
  units: readonly Unit[],
  action: DeployAction,
  { now, updateTimeMs, openingAt }: PlanTimes,
): EstimatedPhaseTimes[] {
  const { with: spec } = action;
  const reached = findReachedUnits(plan, units);
  const isGuarded = spec.mode === 'parallel' && spec.healthChecks.length > 0;
  const leastBakeMs = isGuarded ? longestLookback(spec.healthChecks, spec.healthInterval) : 0;
  const lengths = plan.phases.map(({ bakeMs }, index) =>
    reached[index]?.length === 0
      ? { updateMs: 0, bakeMs: 0 }
      : { updateMs: updateTimeMs, bakeMs: Math.max(bakeMs, leastBakeMs) },
  );
  const open = toOpenTimes(action);
  const window = open && { onClose: getOnClose(open), stateAt: (atMs: number) => openingAt(open, atMs) };
  return estimate(lengths, now, window).map(({ startsAtMs, updatedAtMs, bakedAtMs }) => ({
    startsAt: formatTime(startsAtMs),
    updatedAt: formatTime(updatedAtMs),
    bakedAt: formatTime(bakedAtMs),
  }));
}

/** The duration of steps is unknown. */
function findUncountedSteps({ phases }: DeployPlan): PlanView['warnings'] {
  const names = phases.filter(({ pre, post }) => pre !== undefined || post !== undefined).map(({ name }) => name);
  if (names.length === 0) return [];
  return [{ code: 'uncounted-steps', message: `the time that pre and post take is not counted: ${names.join(', ')}` }];
}

function assumption({ assumed, updateTimeMs }: PlanTimes): PlanView['warnings'] {
  if (!assumed) return [];
  const message = `no past deploy shows how long updates take: ${formatDuration(updateTimeMs)} a phase is assumed; --update-time says otherwise`;
  return [{ code: 'assumed-update-time', message }];
}

/** The phases whose percentages, for these units, mean much more than written. */
export const findMisleadingPhases = ({ phases }: DeployPlan, units: readonly Unit[]): PlanView['warnings'] =>
  phases.flatMap((phase) => checkPhasePercent(phase, units));

function checkPhasePercent(phase: PhasePlan, units: readonly Unit[]): PlanView['warnings'] {
  const inside = units.filter((unit) => inScope(phase.scope, unit));
  const ofUnits = 'units' in phase.amount;
  const misleading = ofUnits
    ? findMisleadingPercent(phase.amount.units, [inside.length])
    : findMisleadingPercent(
        phase.amount,
        inside.map(({ size }) => size),
      );
  if (misleading === undefined) return [];
  const effective = Math.round(misleading.effective * 10) / 10;
  const why = ofUnits ? 'since it takes at least one of them' : 'since each gives at least one task';
  return [
    {
      code: 'misleading-percent',
      message: `${misleading.written}% in phase ${phase.name} means ${effective}% of these units, ${why}`,
    },
  ];
}

/** The ratio of the effective percentage to the written one from which people are warned. */
const MISLEADING_FACTOR = 2;

/**
 * The effective percentage if, for these units, it is much more than written: 1% of units with one task is all of them. Otherwise
 * undefined. It needs the sizes of units, so `lint` checks it only if there is a fleet next to the file.
 */
export function findMisleadingPercent(
  amount: PhaseAmount,
  sizes: readonly number[],
): { written: number; effective: number } | undefined {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (!('percent' in amount) || total === 0) return undefined;
  const reached = sizes.reduce((sum, size) => sum + tasksOf(amount, size), 0);
  const effective = (reached / total) * 100;
  return effective > amount.percent * MISLEADING_FACTOR ? { written: amount.percent, effective } : undefined;
}
