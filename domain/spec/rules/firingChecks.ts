import { formatValue } from '../../health/bound';
import { getRankMethod } from '../../health/judgeShift';
import { computeLookback, stepFor } from '../../health/lookback';
import { leastP } from '../../health/mannWhitney';
import { listBounds } from '../../health/threshold';
import { formatDuration, plural } from '../../text';
import type { HealthCheck } from '../health';
import type { Rule } from '../rule';
import { warningAt, type Finding, type Path } from '../problem';
import { listJudgingActions, type JudgedPhase, type JudgingAction } from './deploys';

/** Checks that can never be unhealthy, never be healthy, or never compare with the side that they name. */
const findFiringFaults: Rule = (spec) =>
  listJudgingActions(spec).flatMap((judging) =>
    judging.checks.flatMap((check, index) => {
      const at = [...judging.path, 'healthChecks', index];
      return [
        ...impossibleFall(at, check),
        ...checkHoldLength(at, check, judging),
        ...emptyControl(at, check, judging),
        ...fewSamples(at, check, judging),
        ...fewValues(at, check, judging),
        ...findUnusedBaseline(at, check),
      ];
    }),
  );

export const firingRules: readonly Rule[] = [findFiringFaults];

/** A metric that cannot be negative cannot fall by more than 100%, and thresholds are strict. */
function impossibleFall(path: Path, { name, threshold, method }: HealthCheck): Finding[] {
  const bounds = listBounds(threshold);
  const fall = bounds.find(({ sign, allowed }) => sign < 0 && allowed !== undefined);
  if (fall?.allowed === undefined) return [];
  const written = 'percent' in fall.allowed ? fall.allowed.percent : 0;
  const tolerance = getRankMethod({ method })?.tolerance;
  const percent = tolerance === undefined ? written : tolerance * 100;
  if (percent < 100) return [];
  const at = tolerance === undefined ? ['threshold', fall.kind] : ['method', 'mann-whitney', 'tolerance'];
  const message = `${name} can never be unhealthy${bounds.length > 1 ? ` by its ${fall.kind}` : ''}: nothing falls by more than ${percent}%`;
  return [warningAt([...path, ...at], 'cannot-fire', message, 'allow a smaller decrease, such as 10%')];
}

/** A check that counts extends the bake until its `for` is over; one that only reports does not. */
function checkHoldLength(
  path: Path,
  check: HealthCheck,
  { intervalMs, longestBakeMs, whileUpdating }: JudgingAction,
): Finding[] {
  const hold = check.for;
  if (hold === undefined || check.onUnhealthy !== 'ignore' || whileUpdating) return [];
  const judgedMs = Math.max(0, longestBakeMs - computeLookback(check, intervalMs));
  const neededMs = typeof hold === 'number' ? hold : (timesUnhealthy(hold) - 1) * intervalMs;
  if (neededMs <= judgedMs) return [];
  const message = `${check.name} is only reported and can never be unhealthy: the longest bake leaves ${formatDuration(judgedMs)} after its first window, and for wants more`;
  return [warningAt([...path, 'for'], 'cannot-fire', message, 'ask for less, or bake longer')];
}

const timesUnhealthy = (hold: Exclude<HealthCheck['for'], number | undefined>): number =>
  'within' in hold ? hold.failures : hold.evaluations;

function emptyControl(path: Path, check: HealthCheck, { phases, whileUpdating }: JudgingAction): Finding[] {
  if (check.compare !== 'control' || whileUpdating || !phases.every(takesWholeUnits)) return [];
  const which =
    phases.length === 0 ? 'there is no phase before all tasks are updated' : 'every phase updates whole units';
  const message = `${check.name} finds no task to compare with: ${which}; so it compares with before the deploy`;
  const hint = 'write compare: before, or begin with a phase of a part of the tasks, such as amount: 5%';
  return [warningAt([...path, 'compare'], 'empty-control', message, hint)];
}

const takesWholeUnits = ({ amount }: JudgedPhase): boolean => 'units' in amount || 'all' in amount;

/** Too little data is inconclusive, so such a phase extends its bake and then pauses with every version. */
function fewSamples(path: Path, check: HealthCheck, judging: JudgingAction): Finding[] {
  const lookback = computeLookback(check, judging.intervalMs);
  const needed = check.minSamples ?? 0;
  const samplesOf = (tasks: number): number => tasks * maxPoints(lookback);
  const phase = listCountedPhases(check, judging).find(({ tasks }) => samplesOf(tasks) < needed);
  if (phase === undefined) return [];
  const most = samplesOf(phase.tasks);
  const message = `${check.name} needs ${needed} samples, and ${phase.name} updates ${plural(phase.tasks, 'task')} of a unit, which give at most ${most} in ${formatDuration(lookback)}: it never passes`;
  const hint = `write minSamples: ${most} or less, look back longer, or update more tasks`;
  return [warningAt([...path, 'minSamples'], 'too-few-samples', message, hint)];
}

/** The other tasks may be many, but the same tasks before the deploy have only as many values as now. */
function fewValues(path: Path, check: HealthCheck, judging: JudgingAction): Finding[] {
  const ranks = getRankMethod(check);
  if (ranks === undefined || check.compare !== 'before') return [];
  const lookback = computeLookback(check, judging.intervalMs);
  const { confidence } = ranks;
  const collapses = check.transform.some((step) => typeof step === 'string' && step !== 'rate');
  const valuesOf = (tasks: number): number => tasks * (collapses ? 1 : maxPoints(lookback));
  const phase = listCountedPhases(check, judging).find(
    ({ tasks }) => leastP(valuesOf(tasks), valuesOf(tasks)) > 1 - confidence,
  );
  if (phase === undefined) return [];
  const values = valuesOf(phase.tasks);
  const message = `${check.name} has at most ${plural(values, 'value')} of a unit in ${phase.name}, too few to be ${formatValue(confidence * 100)}% sure of anything: it never passes`;
  const hint = 'look back longer, update more tasks, or use method: threshold';
  return [warningAt([...path, 'method'], 'too-few-samples', message, hint)];
}

/** The maximum number of points of one task in a window. */
const maxPoints = (lookbackMs: number): number => Math.ceil(lookbackMs / stepFor(lookbackMs));

/** The first phases, as far as the file states their number of updated tasks in a unit. */
function listCountedPhases(
  { scope }: HealthCheck,
  { phases }: JudgingAction,
): { readonly name: string; readonly tasks: number }[] {
  if (scope === 'deploy') return [];
  const end = phases.findIndex(({ amount }) => !('count' in amount));
  const counts = (end < 0 ? phases : phases.slice(0, end)).map(({ amount }) => ('count' in amount ? amount.count : 0));
  return phases.slice(0, counts.length).flatMap(({ name, bakeMs }, index) => {
    // Amounts are cumulative.
    return bakeMs > 0 ? [{ name, tasks: Math.max(...counts.slice(0, index + 1)) }] : [];
  });
}

function findUnusedBaseline(path: Path, check: HealthCheck): Finding[] {
  const { name, zeroBaseline } = check;
  if (zeroBaseline === undefined) return [];
  if (listBounds(check.threshold).some(({ allowed }) => allowed !== undefined && 'percent' in allowed)) return [];
  const message = `zeroBaseline of ${name} has no effect: only a change in percent has no size from zero`;
  return [
    warningAt([...path, 'zeroBaseline'], 'no-effect', message, 'remove zeroBaseline, or write the change in percent'),
  ];
}
