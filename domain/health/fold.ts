import type { HealthCheck } from '../spec/health';
import type { HealthRow } from '../views';
import { formatDuration } from '../text';
import { remember, whyNotPassed, whyNotYet, type CheckHistory } from './hold';
import { isDeciding, withoutGuess, withoutNumbers, worst, type CheckEvidence, type Verdict } from './verdict';

/**
 * The memory of a deploy between evaluations: for each unit and check, its unhealthy run; for each check, the number of evaluations
 * in which all were healthy. It has nothing else, so that it stays small, and is plain JSON, so that a heartbeat can carry it.
 */
export type HealthFold = Readonly<Record<string, CheckHistory>>;

export const NO_HISTORY: HealthFold = {};

/**
 * The number of remembered entries. If there are more, entries without an unhealthy run are kept, and those that have
 * been unhealthy the longest.
 */
const MAX_REMEMBERED = 500;

export function oldest(fold: HealthFold): HealthFold {
  const entries = Object.entries(fold);
  if (entries.length <= MAX_REMEMBERED) return fold;
  return Object.fromEntries(entries.sort(([, a], [, b]) => (a.since ?? 0) - (b.since ?? 0)).slice(0, MAX_REMEMBERED));
}

/** Checks that a person skipped: all, or some by name. */
export type HealthSkips = 'all' | readonly string[];

export type HealthAction = 'none' | 'revert' | 'pause';

/** The unit name under which checks of the whole deploy are shown. */
const WHOLE_DEPLOY = '*';

export interface FoldInput {
  /** The checks in the deploy's spec. */
  readonly checks: readonly HealthCheck[];
  readonly skips: HealthSkips;
  /** The answer of `runHealthChecks`. */
  readonly response: {
    readonly units: readonly { readonly id: string; readonly checks: readonly CheckEvidence[] }[];
    readonly deploy: { readonly checks: readonly CheckEvidence[] };
  };
  /** ms since the epoch. */
  readonly now: number;
  /** The time of the last finished update of the phase: older data does not show its effect. */
  readonly lastUpdateAt: number;
  /** The action of a check that names none. */
  readonly onUnhealthy: 'revert' | 'pause';
}

export interface FoldResult {
  readonly fold: HealthFold;
  /** The part of the fold for checks with `passes`: the number of evaluations in a row in which all were healthy. */
  readonly passes: HealthFold;
  readonly verdict: Verdict;
  /** The action that the unhealthy checks ask for: revert before pause before none. */
  readonly action: HealthAction;
  /** One for each check of each unit, including checks that do not count. */
  readonly rows: readonly HealthRow[];
  /** Some check does not pass only for lack of time: it is unhealthy for less than its `for`, or its window is not filled. */
  readonly young: boolean;
  /** The sentence of the deciding row; empty if nothing is checked. */
  readonly reason: string;
}

/** Folds in one evaluation: the verdict of the deploy, the action, and the memory for the next evaluation. */
export function foldEvaluation(fold: HealthFold, input: FoldInput): FoldResult {
  const [passes, judged] = withPasses(
    fold,
    input.checks,
    collectEvidence(input).map(({ unit, evidence }) => judgeRow(fold, input, unit, evidence)),
  );
  const counted = judged.filter(({ counts }) => counts);
  // There are no counted rows only if there are no checks or a person skipped all of them: a check without evidence has
  // a row too.
  const verdict = counted.length === 0 ? 'healthy' : worst(counted.map(({ row }) => row.verdict));
  return {
    fold: { ...Object.fromEntries(judged.flatMap(({ key, history }) => (history ? [[key, history]] : []))), ...passes },
    passes,
    verdict,
    action: strongest(counted.filter(({ row }) => row.verdict === 'unhealthy').map(({ action }) => action)),
    rows: judged.map(({ row }) => row),
    young: counted.some(({ young }) => young),
    reason: counted.find(({ row }) => row.verdict === verdict)?.row.reason ?? '',
  };
}

interface JudgedCheck {
  readonly key: string;
  readonly row: HealthRow;
  readonly history: CheckHistory | undefined;
  readonly counts: boolean;
  readonly young: boolean;
  readonly action: HealthAction;
}

const checkKey = (unit: string, check: string): string => `${unit}|${check}`;

const isSkipped = (skips: HealthSkips, check: string): boolean => skips === 'all' || skips.includes(check);

/** All evidence. A missing check of a unit that has to report it becomes evidence of that. */
function collectEvidence({ checks, response, now }: FoldInput): { unit: string; evidence: CheckEvidence }[] {
  const { units, deploy } = response;
  const given = [
    ...units.flatMap(({ id, checks: judged }) =>
      judged.map((evidence) => ({ unit: id, evidence: withoutGuess(evidence) })),
    ),
    ...deploy.checks.map((evidence) => ({ unit: WHOLE_DEPLOY, evidence: withoutGuess(evidence) })),
  ];
  // A unit without any evidence has no updated task; a unit with some has to report all.
  const judgedUnits = units.filter(({ checks: judged }) => judged.length > 0).map(({ id }) => id);
  const rowKeys = new Set(given.map(({ unit, evidence }) => checkKey(unit, evidence.name)));
  const silent = checks.flatMap(({ name, scope }) => {
    const askedOf = scope === 'deploy' || judgedUnits.length === 0 ? [WHOLE_DEPLOY] : judgedUnits;
    return askedOf
      .filter((unit) => !rowKeys.has(checkKey(unit, name)))
      .map((unit) => ({ unit, evidence: noEvidence(name, now) }));
  });
  return [...given, ...silent];
}

const noEvidence = (name: string, now: number): CheckEvidence =>
  withoutNumbers(name, 'inconclusive', { start: now, end: now }, 'was not evaluated for any updated task');

function judgeRow(fold: HealthFold, input: FoldInput, unit: string, evidence: CheckEvidence): JudgedCheck {
  const check = input.checks.find(({ name }) => name === evidence.name);
  const key = checkKey(unit, evidence.name);
  const unfilled = computeUnfilledMs(evidence, input);
  const history = unfilled > 0 ? fold[key] : remember(check?.for, fold[key], evidence.verdict, input.now);
  const skipped = isSkipped(input.skips, evidence.name);
  const action = check?.onUnhealthy ?? input.onUnhealthy;
  const young = evidence.verdict === 'unhealthy' && history ? whyNotYet(check?.for, history, input.now) : undefined;
  const doubt = unfilled > 0 ? describeUnfilled(unfilled) : young;
  const notes = [doubt, skipped ? 'skipped' : undefined, action === 'ignore' ? 'only reported' : undefined];
  const { verdict, observed, reference, threshold, samples } = evidence;
  return {
    key,
    row: {
      unit,
      check: evidence.name,
      verdict: doubt ? 'inconclusive' : verdict,
      ...{ observed, reference, threshold, samples },
      reason: [evidence.reason, ...notes.filter((note) => note !== undefined)].join('; '),
    },
    history,
    counts: !skipped && action !== 'ignore',
    young: doubt !== undefined,
    action: action === 'ignore' ? 'none' : action,
  };
}

/** The part of a deciding verdict's window that lies before the end of the last update, and so does not show its effect; ms. */
function computeUnfilledMs({ verdict, window }: CheckEvidence, { lastUpdateAt }: FoldInput): number {
  return isDeciding(verdict) ? Math.max(0, lastUpdateAt - window.start) : 0;
}

const describeUnfilled = (missingMs: number): string =>
  `not counted yet: its window begins ${formatDuration(missingMs)} before the last update was done`;

/**
 * For checks with `passes`: counts the evaluations in a row in which every unit was healthy. Until the number is reached, none of their
 * rows counts as healthy.
 */
function withPasses(
  fold: HealthFold,
  checks: readonly HealthCheck[],
  judged: readonly JudgedCheck[],
): [HealthFold, readonly JudgedCheck[]] {
  const counting = checks.filter(({ passes }) => passes !== undefined);
  if (counting.length === 0) return [{}, judged];
  const remembered: Record<string, CheckHistory> = {};
  const notes = new Map<string, string>();
  for (const { name, passes: needed = 1 } of counting) {
    const rows = judged.filter(({ row }) => row.check === name);
    if (rows.length === 0 || !rows.every(({ row }) => row.verdict === 'healthy')) continue;
    const key = checkKey(WHOLE_DEPLOY, `${name} passes`);
    const passes = Math.min(needed, (fold[key]?.passes ?? 0) + 1);
    remembered[key] = { passes };
    const why = whyNotPassed(needed, passes);
    if (why) notes.set(name, why);
  }
  return [remembered, judged.map((each) => inDoubt(each, notes.get(each.row.check)))];
}

function inDoubt(judged: JudgedCheck, note: string | undefined): JudgedCheck {
  if (note === undefined) return judged;
  const { row } = judged;
  return { ...judged, young: true, row: { ...row, verdict: 'inconclusive', reason: `${row.reason}; ${note}` } };
}

function strongest(actions: readonly HealthAction[]): HealthAction {
  if (actions.includes('revert')) return 'revert';
  return actions.includes('pause') ? 'pause' : 'none';
}
