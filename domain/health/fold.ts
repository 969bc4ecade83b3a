import type { HealthCheck } from '../spec/health';
import type { HealthRow } from '../views';
import { formatDuration } from '../text';
import { remember, whyNotPassed, whyNotYet, type Remembered } from './hold';
import { isDeciding, withoutGuess, withoutNumbers, worst, type CheckEvidence, type Verdict } from './verdict';

/**
 * What a deploy remembers from one evaluation to the next: by unit and check, what was unhealthy; by check, how often it was
 * healthy everywhere. Nothing else is in it, so that it stays small; plain JSON, so that a heartbeat can carry it.
 */
export type HealthFold = Readonly<Record<string, Remembered>>;

export const NO_HISTORY: HealthFold = {};

/** So many are remembered; of more, what is healthy and those that have been unhealthy for the longest. */
const MAX_REMEMBERED = 500;

export function oldest(fold: HealthFold): HealthFold {
  const entries = Object.entries(fold);
  if (entries.length <= MAX_REMEMBERED) return fold;
  return Object.fromEntries(entries.sort(([, a], [, b]) => (a.since ?? 0) - (b.since ?? 0)).slice(0, MAX_REMEMBERED));
}

/** Checks that a person skipped: all of them, or some by name. */
export type HealthSkips = 'all' | readonly string[];

export type HealthAction = 'none' | 'revert' | 'pause';

/** The unit under which checks of the whole deploy are shown. */
const WHOLE_DEPLOY = '*';

export interface FoldInput {
  /** As the deploy's spec has them. */
  readonly checks: readonly HealthCheck[];
  readonly skips: HealthSkips;
  /** What `runHealthChecks` answered. */
  readonly response: {
    readonly units: readonly { readonly id: string; readonly checks: readonly CheckEvidence[] }[];
    readonly deploy: { readonly checks: readonly CheckEvidence[] };
  };
  /** ms since the epoch. */
  readonly now: number;
  /** When the last update of the phase was done: older data does not show what it did. */
  readonly lastUpdateAt: number;
  /** What a check does that does not say. */
  readonly onUnhealthy: 'revert' | 'pause';
}

export interface FoldResult {
  readonly fold: HealthFold;
  /** Of it, how often checks with `passes` were healthy everywhere, in a row. */
  readonly passes: HealthFold;
  readonly verdict: Verdict;
  /** What the unhealthy checks ask for: revert before pause before nothing. */
  readonly action: HealthAction;
  /** One for each check of each unit, also of those that do not count. */
  readonly rows: readonly HealthRow[];
  /** Some check is not passed only because time has to go by: unhealthy for less than its `for`, or its window is not filled. */
  readonly young: boolean;
  /** The sentence of the row that decided; empty when nothing is checked. */
  readonly reason: string;
}

/** Takes one evaluation in: the verdict of the deploy, what is to be done, and what to remember for the next. */
export function foldEvaluation(fold: HealthFold, input: FoldInput): FoldResult {
  const [passes, judged] = withPasses(
    fold,
    input.checks,
    evidenceOf(input).map(({ unit, evidence }) => judgeRow(fold, input, unit, evidence)),
  );
  const counted = judged.filter(({ counts }) => counts);
  // Nothing counts only when nothing is checked or a person skipped it all: a check without evidence has a row as well.
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
  readonly history: Remembered | undefined;
  readonly counts: boolean;
  readonly young: boolean;
  readonly action: HealthAction;
}

const checkKey = (unit: string, check: string): string => `${unit}|${check}`;

const isSkipped = (skips: HealthSkips, check: string): boolean => skips === 'all' || skips.includes(check);

/** All evidence, and where a check that somebody has to answer for was left out, just that. */
function evidenceOf({ checks, response, now }: FoldInput): { unit: string; evidence: CheckEvidence }[] {
  const { units, deploy } = response;
  const given = [
    ...units.flatMap(({ id, checks: judged }) =>
      judged.map((evidence) => ({ unit: id, evidence: withoutGuess(evidence) })),
    ),
    ...deploy.checks.map((evidence) => ({ unit: WHOLE_DEPLOY, evidence: withoutGuess(evidence) })),
  ];
  // A unit that gives no evidence at all has no updated task; one that gives some has to give all.
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
  const unfilled = unfilledMs(evidence, input);
  const history = unfilled > 0 ? fold[key] : remember(check?.for, fold[key], evidence.verdict, input.now);
  const skipped = isSkipped(input.skips, evidence.name);
  const action = check?.onUnhealthy ?? input.onUnhealthy;
  const young = evidence.verdict === 'unhealthy' && history ? whyNotYet(check?.for, history, input.now) : undefined;
  const doubt = unfilled > 0 ? unfilledDoubt(unfilled) : young;
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

/** How much of the window of a verdict, healthy or not, lies before the last update was done: it shows nothing of what that did. */
function unfilledMs({ verdict, window }: CheckEvidence, { lastUpdateAt }: FoldInput): number {
  return isDeciding(verdict) ? Math.max(0, lastUpdateAt - window.start) : 0;
}

const unfilledDoubt = (missingMs: number): string =>
  `not counted yet: its window begins ${formatDuration(missingMs)} before the last update was done`;

/** Of checks with `passes`, how often in a row every unit was found healthy; until it is often enough, none of their rows is. */
function withPasses(
  fold: HealthFold,
  checks: readonly HealthCheck[],
  judged: readonly JudgedCheck[],
): [HealthFold, readonly JudgedCheck[]] {
  const counting = checks.filter(({ passes }) => passes !== undefined);
  if (counting.length === 0) return [{}, judged];
  const remembered: Record<string, Remembered> = {};
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
