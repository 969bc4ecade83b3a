import type { Backtest, BacktestedDeploy } from '../domain/health/backtest';
import { isCounted, type Result } from '../domain/health/result';
import { share } from '../domain/health/quality';
import { formatDuration, plural } from '../domain/text';
import { table } from './columns';
import { paint, tint, type Tone, type View } from './paint';
import { clock } from './times';
import { shareWords } from './words';

/** The checks of one deploy action on its past deploys. */
export interface ActionBacktest {
  readonly action: string;
  readonly checks: readonly Backtest[];
  /** The number of deploys tried, without recordings. */
  readonly deploys: number;
  /** Deploys past Temporal's retention. */
  readonly lost: readonly string[];
}

/** `health backtest -o json`. */
export interface BacktestReport {
  readonly pipeline: string;
  readonly since: string;
  readonly actions: readonly ActionBacktest[];
  /** Files that were written. */
  readonly plots: readonly string[];
}

/** A table of each action's checks, then their errors; `wide` lists every deploy. */
export function backtestText({ pipeline, since, actions, plots }: BacktestReport, view: View, wide: boolean): string {
  const colors = paint(view.color);
  return [
    ...actions.flatMap((one) => [
      ...actionLines(pipeline, since, one, view),
      ...betterLines(one),
      ...formatTrials(one, view, wide),
    ]),
    '',
    colors.dim('with bounds of 95% confidence; bad deploys are known from rollbacks, reverts, emergencies and labels'),
    ...plots.map((file) => `plot: ${file}`),
  ].join('\n');
}

function actionLines(
  pipeline: string,
  since: string,
  { action, checks, deploys, lost }: ActionBacktest,
  view: View,
): string[] {
  const colors = paint(view.color);
  const rows = checks.map(({ check, quality, tried: each }) => {
    const { falsePositives, trueNegatives, falseNegatives, truePositives, delayMs } = quality;
    const aside = each.filter(({ result }) => !isCounted(result)).length;
    return [
      colors.bold(check),
      ofWords(falsePositives, falsePositives + trueNegatives),
      ofWords(falseNegatives, falseNegatives + truePositives),
      delayMs === null ? '–' : `${formatDuration(delayMs.median)}, p90 ${formatDuration(delayMs.p90)}`,
      String(aside),
    ];
  });
  const heading = ['CHECK', 'FALSE POSITIVES', 'FALSE NEGATIVES', 'FOUND AFTER', 'NOT COUNTED'];
  return [
    `${colors.bold(`${pipeline}, ${action}`)}: ${plural(deploys, 'deploy')} since ${clock(since, view)}`,
    ...(lost.length === 0 ? [] : [colors.yellow(`${plural(lost.length, 'more deploy')}, past Temporal's retention`)]),
    table(heading, rows, '', view),
  ];
}

const ofWords = (count: number, of: number): string => shareWords(share(count, of), 'of');

/** Checks for which another limit would have erred less; with few deploys such a limit exists by chance. */
function betterLines({ checks }: ActionBacktest): string[] {
  return checks.flatMap(({ check, quality, better }) => {
    if (better === null) return [];
    const { falsePositives, falseNegatives, truePositives, trueNegatives } = quality;
    const errors = falsePositives + falseNegatives;
    const counted = errors + truePositives + trueNegatives;
    const left = `${plural(better.falsePositives + better.falseNegatives, 'time')} instead of ${errors}`;
    const doubt =
      counted < FEW
        ? `; ${plural(counted, 'deploy')} ${counted === 1 ? 'proves' : 'prove'} little`
        : ` on ${counted} deploys`;
    return [`${check} with ${better.text} would have erred ${left}${doubt}`];
  });
}

const FEW = 10;

const BACKTEST_SYMBOLS: Readonly<Record<Result, readonly [glyph: string, tone: Tone]>> = {
  found: ['✔', 'good'],
  passed: ['✔', 'good'],
  'false-negative': ['✖', 'bad'],
  'false-positive': ['✖', 'bad'],
  'cut-short': ['·', 'quiet'],
  unknown: ['·', 'quiet'],
};

function formatTrials({ checks }: ActionBacktest, view: View, wide: boolean): string[] {
  const rows = checks.flatMap(({ check, tried }) =>
    tried.filter(({ result }) => wide || WRONG_RESULTS.has(result)).map((one) => trialCells(check, one, view, wide)),
  );
  if (rows.length === 0) return [];
  const heading = ['DEPLOY', 'CHECK', 'RESULT', 'AFTER', 'TRUTH', ...(wide ? ['SAID'] : [])];
  return ['', table(heading, rows, '', { ...view, width: wide ? Infinity : view.width })];
}

const WRONG_RESULTS: ReadonlySet<Result> = new Set(['false-negative', 'false-positive']);

function trialCells(
  check: string,
  { id, result, foundAfterMs, why, reason }: BacktestedDeploy,
  view: View,
  wide: boolean,
): string[] {
  const colors = paint(view.color);
  const [glyph, tone] = BACKTEST_SYMBOLS[result];
  const after = foundAfterMs === null ? '–' : formatDuration(foundAfterMs);
  return [
    colors.bold(id),
    check,
    tint(colors, tone, `${glyph} ${result.replace('-', ' ')}`),
    after,
    why,
    ...(wide ? [reason] : []),
  ];
}
