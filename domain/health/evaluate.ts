import { parseAmount, tasksOf } from '../fleet/amount';
import { formatDuration, plural } from '../text';
import type { HealthCheck } from '../spec/health';
import type { Bound, Judgement } from './bound';
import { judgeShift, getRankMethod } from './judgeShift';
import { stepFor } from './lookback';
import { summariseSide, type SideSummary } from './reduce';
import type { Side, TimeRange } from './series';
import { listBounds } from './threshold';
import { withoutNumbers, worst, type CheckEvidence, type Verdict } from './verdict';

/** The basis of one evaluation of one check. */
export interface Evaluation {
  readonly check: HealthCheck;
  /** The tasks that this deploy updated. */
  readonly fresh: Side;
  /**
   * `control`: the tasks of the unit that this deploy has not updated; `{ version }`: the unit's tasks on that version.
   */
  readonly control: Side;
  /** The same slots before the deploy began, under their identifiers at that time. */
  readonly before: Side;
  readonly window: TimeRange;
  /** The window of `before`. */
  readonly baseline: TimeRange;
}

const SIMPLE_SAMPLES = 1;
const COMPARISON_SAMPLES = 3;

/** Judges one check. It never throws, and never returns `healthy` for missing data, too few samples or an error. */
export function evaluateCheck(evaluation: Evaluation): CheckEvidence {
  try {
    return evidenceFor(evaluation);
  } catch (error) {
    return createErroredEvidence(
      evaluation.check,
      evaluation.window,
      error instanceof Error ? error.message : String(error),
    );
  }
}

/** The evidence of a check that could not be evaluated. */
export const createErroredEvidence = (
  { name }: Pick<HealthCheck, 'name'>,
  window: TimeRange,
  detail: string,
): CheckEvidence => withoutNumbers(name, 'errored', window, `could not be evaluated: ${detail}`);

/** The evidence of a check for a unit that the push type left out of its answer. */
export const unsaidEvidence = (name: string, now: number): CheckEvidence =>
  withoutNumbers(name, 'inconclusive', { start: now, end: now }, 'was not answered for');

/** The evidence of a check if tasks were updated but none of them can be reached. */
export const createUnreachedEvidence = (
  { name }: Pick<HealthCheck, 'name'>,
  window: TimeRange,
  updated: number,
): CheckEvidence =>
  withoutNumbers(
    name,
    'inconclusive',
    window,
    `has nothing to judge: of ${plural(updated, 'updated task')} none can be reached`,
  );

/** The comparison of the updated tasks, in numbers and words. */
interface ReferenceSide {
  readonly summary: SideSummary;
  /** "the 3 tasks not yet updated" */
  readonly whom: string;
  readonly side: Side;
  /** The reason why it differs from the comparison that the check asks for; empty if it does not. */
  readonly note: string;
}

function evidenceFor(evaluation: Evaluation): CheckEvidence {
  const { check, window } = evaluation;
  const fresh = summariseSide(check, evaluation.fresh, window, stepFor(window.end - window.start));
  const reference = check.compare === undefined ? undefined : pickReference(evaluation);
  const evidence = (verdict: Verdict, text: string, judged?: Judgement): CheckEvidence => ({
    name: check.name,
    verdict,
    observed: finiteOrNull(fresh.value),
    reference: finiteOrNull(reference?.summary.value),
    threshold: finiteOrNull(judged?.limit ?? undefined),
    samples: fresh.samples,
    tasks: fresh.reporting,
    window: { start: window.start, end: window.end },
    reason: `${check.name} ${text}`,
    ...(judged?.test && { test: judged.test }),
  });
  const missing = describeMissingData(evaluation, fresh, reference);
  if (missing !== undefined) return evidence('inconclusive', missing);
  const judgement = compareCheck(check, fresh, reference);
  const text = `${judgement.text} ${basis(check, fresh, window)}${reference?.note ?? ''}`;
  const silent = silence(check, fresh);
  // A group with silent tasks may be unhealthy, but never healthy.
  if (silent === undefined || judgement.verdict !== 'healthy') return evidence(judgement.verdict, text, judgement);
  return evidence('inconclusive', `${text}; but ${silent}`, judgement);
}

/** If there are several bounds, the one that is exceeded decides. */
function compareCheck(check: HealthCheck, fresh: SideSummary, reference: ReferenceSide | undefined): Judgement {
  const judged = listBounds(check.threshold).map((bound) => compareWith(bound, check, fresh, reference));
  const verdict = worst(judged.map((judgement) => judgement.verdict));
  return judged.find((judgement) => judgement.verdict === verdict) as Judgement;
}

function compareWith(
  bound: Bound,
  check: HealthCheck,
  fresh: SideSummary,
  reference: ReferenceSide | undefined,
): Judgement {
  const observed = fresh.value ?? NaN;
  const ranks = getRankMethod(check);
  if (ranks === undefined || reference === undefined) {
    const measured = { observed, reference: reference?.summary.value, zeroBaseline: check.zeroBaseline };
    return bound.judge(measured, reference?.whom ?? '');
  }
  const { summary, whom } = reference;
  const samples = { fresh: fresh.values, old: summary.values, observed, reference: summary.value ?? NaN, whom };
  return judgeShift(check, bound, ranks.confidence, samples);
}

function pickReference({ check, control, before, window, baseline }: Evaluation): ReferenceSide {
  const step = stepFor(window.end - window.start);
  const earlier = (note: string): ReferenceSide => ({
    summary: summariseSide(check, before, baseline, step),
    side: before,
    whom: before.tasks === 1 ? 'the same task before the deploy' : `the same ${before.tasks} tasks before the deploy`,
    note,
  });
  if (check.compare === 'before') return earlier('');
  if (check.compare === 'control' && control.tasks === 0)
    return earlier('; compared with before the deploy, because no task is left that was not updated');
  const which = typeof check.compare === 'object' ? `on ${check.compare.version}` : 'not yet updated';
  const whom = `the ${plural(control.tasks, 'task')} ${which}`;
  return { summary: summariseSide(check, control, window, step), side: control, whom, note: '' };
}

/** The reason why a side has too little data to be judged at all; undefined if it has enough. */
function describeMissingData(
  { check, window, fresh: freshSide }: Evaluation,
  fresh: SideSummary,
  reference: ReferenceSide | undefined,
): string | undefined {
  const needed = check.minSamples ?? (reference === undefined ? SIMPLE_SAMPLES : COMPARISON_SAMPLES);
  const span = formatDuration(window.end - window.start);
  const tooFew = (side: SideSummary, whom: string, asked: Side): string | undefined => {
    if (side.tasks === 0) return `has nothing to judge: there are no ${whom}`;
    if (side.samples === 0 || side.value === undefined)
      return `has no data of ${whom} (${check.metric}, ${span})${formatQueriedNames(asked)}`;
    if (side.samples < needed) return `has ${plural(side.samples, 'sample')} of ${whom} in ${span} and needs ${needed}`;
    return Number.isFinite(side.value) ? undefined : `is not a number for ${whom} (${check.metric}, ${span})`;
  };
  const updated =
    fresh.tasks === 1 ? 'the updated task' : fresh.tasks === 0 ? 'updated tasks' : `the ${fresh.tasks} updated tasks`;
  const why =
    tooFew(fresh, updated, freshSide) ?? (reference && tooFew(reference.summary, reference.whom, reference.side));
  return why === undefined ? undefined : `${why}${reference?.note ?? ''}`;
}

/** Names that do not exist in the metrics cause missing data more often than silent tasks do. */
function formatQueriedNames({ asked = [], tasks }: Side): string {
  if (asked.length === 0) return '';
  const more = tasks - asked.length;
  return `: asked for ${asked.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * All tasks have to report unless the check states a number: the silent one among a thousand may be exactly the broken
 * one.
 */
function silence(check: HealthCheck, { tasks, reporting }: SideSummary): string | undefined {
  const amount = check.reporting === undefined ? undefined : parseAmount(check.reporting);
  const needed = amount === undefined ? tasks : tasksOf(amount, tasks);
  return reporting >= needed
    ? undefined
    : `${tasks - reporting} of the ${plural(tasks, 'updated task')} reported nothing`;
}

/** "(mean of 3 tasks over the last 3m)" */
function basis(check: HealthCheck, fresh: SideSummary, window: TimeRange): string {
  return `(${check.reduce} of ${plural(fresh.reporting, 'task')} over the last ${formatDuration(window.end - window.start)})`;
}

const finiteOrNull = (value: number | undefined): number | null =>
  value !== undefined && Number.isFinite(value) ? value : null;
