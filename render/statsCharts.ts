import { DAY_MS, MINUTE_MS } from '../domain/milliseconds';
import type { Share } from '../domain/health/quality';
import { OBJECTIVES, type Breakdown, type Dora, type StatsReport } from '../domain/stats/report';
import { formatDuration } from '../domain/text';
import { barPanels, type BarPanel } from './charts/barPanels';
import { columnPanels } from './charts/columns';
import { distribution } from './charts/distribution';
import { MOST_WORDS, shareMatrix } from './charts/matrix';
import { ranges, type RangeMark } from './charts/ranges';
import { linearScale, logScale } from './charts/scale';
import { drawStackedBars } from './charts/stackedBars';
import type { StatsTableId } from './statsTables';
import { percent, shareWords } from './words';

/** The headline of a card, above its table. */
export interface Figure {
  readonly svg: string;
  readonly legend?: readonly { readonly color: string; readonly word: string }[];
  /** One sentence on how to read it. */
  readonly note: string;
}

/** The plot of each table. */
export const statsCharts = (report: StatsReport): Readonly<Record<StatsTableId, Figure>> => ({
  schedules: buildStackedFigure(report.schedules, 'pipelines, by when they release'),
  endStates: buildStackedFigure(report.endStates, 'releases, by how they ended'),
  bugImpact: impactCurve(report),
  failedActions: buildStackedFigure(
    report.failedActions,
    'releases that failed, by the type of the action that failed first',
  ),
  checkErrors: errorRanges(report),
  failedChecks: buildStackedFigure(report.failedChecks, 'checks that were unhealthy at the end of a deploy'),
  progress: panelFigure(
    report.progress,
    'progress of deploys when they failed, in tenths of their tasks',
    ({ whole }) => countWords(whole, 'deploy'),
  ),
  spans: {
    ...drawStackedBars('time', report.spans, ({ whole }) => formatDuration(whole)),
    note: 'time of all deploys',
  },
  deployTimes: timeRanges(report),
  pipelineSizes: panelFigure(
    report.pipelineSizes.map(withoutGaps),
    'pipelines by their number of actions',
    ({ category }) => {
      const mean = report.pipelineSizes.find((one) => one.category === category)?.mean ?? 0;
      return `mean ${mean.toFixed(1)}`;
    },
  ),
  actionTypes: typesFigure(report.actionTypes),
  deployPatterns: buildStackedFigure(report.deployPatterns, 'deploy actions, as of their last deploy'),
  serviceLevel: objectiveRanges(report),
  badFailures: buildStackedFigure(report.badFailures, 'failures that count against the service level'),
  dora: doraBars(report),
});

/** Adds columns for numbers that no pipeline has; otherwise distant ones would look adjacent. */
function withoutGaps<T extends Breakdown>(sizes: T): T {
  const most = Math.max(...Object.keys(sizes.counts).map(Number), 0);
  const all = Array.from({ length: most }, (_, nth) => [nth + 1, sizes.counts[nth + 1] ?? 0] as const);
  return { ...sizes, counts: Object.fromEntries(all) };
}

const countWords = (whole: number, what: string): string =>
  `${whole.toLocaleString('en')} ${what}${whole === 1 ? '' : 's'}`;

const buildStackedFigure = (rows: readonly Breakdown[], note: string): Figure => ({
  ...drawStackedBars(note, rows, ({ whole }) => whole.toLocaleString('en')),
  note,
});

const panelFigure = (rows: readonly Breakdown[], note: string, of: (row: Breakdown) => string): Figure => ({
  svg: columnPanels(note, rows, of),
  note,
});

function typesFigure(rows: readonly Breakdown[]): Figure {
  const types = Object.keys(rows[0]?.counts ?? {}).length;
  const cut = types > MOST_WORDS ? `, for the ${MOST_WORDS} most frequent types; the table has all ${types}` : '';
  return { svg: shareMatrix('types of actions', rows), note: `share of pipelines that have one${cut}` };
}

function impactCurve({ bugImpact: { bugs: found, cancelled } }: StatsReport): Figure {
  const counts = found.map((one) => one.count);
  const note = `share of bugs that cancelled at most this many releases; bugs cancelled ${shareWords(cancelled)} of all`;
  const scale = logScale(counts, POWERS);
  return {
    svg: distribution('releases that a bug cancelled', counts, scale, (value) => value.toLocaleString('en')),
    note,
  };
}

const POWERS = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];

function errorRanges({ checkErrors: rows }: StatsReport): Figure {
  const kinds = [
    ['falseNegatives', 'color2', 'false negatives: deploys that succeeded and were undone later'],
    ['falsePositives', 'color0', 'false positives: deploys that people continued despite a check'],
  ] as const;
  const marked = rows.map((row) => ({
    name: row.category,
    marks: kinds.map(([kind, color, word]) => ({
      ...shareMark(row[kind], color, `${row.category}: ${word}`),
      label: row[kind].share === null ? '–' : percent(row[kind].share),
    })),
  }));
  const scale = linearScale(marked.flatMap(({ marks }) => marks.map(({ high }) => high)));
  return {
    svg: ranges('errors of health checks', marked, scale, percent),
    legend: kinds.map(([, color, word]) => ({ color, word })),
    note: 'upper bounds, with 95% confidence',
  };
}

/** A share of nothing is unknown, so its whisker has no length. */
const shareMark = (of: Share, color: string, says: string): RangeMark => ({
  ...(of.share === null ? { low: 0, value: 0, high: 0 } : { low: of.low, value: of.share, high: of.high }),
  ...{ color, says: `${says}: ${shareWords(of, 'of')}` },
});

const TIME_MARKS = [
  1000,
  10_000,
  MINUTE_MS,
  10 * MINUTE_MS,
  60 * MINUTE_MS,
  6 * 60 * MINUTE_MS,
  DAY_MS,
  7 * DAY_MS,
  30 * DAY_MS,
];

function timeRanges({ deployTimes: rows }: StatsReport): Figure {
  const scale = logScale(
    rows.flatMap(({ p50Ms, p99Ms }) => [p50Ms, p99Ms]),
    TIME_MARKS,
  );
  const marked = rows.map(({ category, p50Ms, p99Ms }) => {
    const says = `${category}: half within ${formatDuration(p50Ms)}, 99% within ${formatDuration(p99Ms)}`;
    const mark = { low: p50Ms, value: p50Ms, high: p99Ms, color: 'color0', says, label: formatDuration(p50Ms) };
    return { name: category, marks: [mark] };
  });
  return {
    svg: ranges('how long deploys took', marked, scale, formatDuration),
    note: 'from the median (dot) to the 99th percentile of deploys that succeeded',
  };
}

function objectiveRanges({ serviceLevel: rows }: StatsReport): Figure {
  const targets = [
    { at: 1 - OBJECTIVES.worked, words: percent(1 - OBJECTIVES.worked) },
    { at: OBJECTIVES.badFailures, words: percent(OBJECTIVES.badFailures) },
  ];
  const marked = rows.map(({ category, badFailures, isMet }) => ({
    name: category,
    marks: [
      {
        ...shareMark(badFailures, isMet === false ? 'bad' : 'good', `${category}: bad failures`),
        label: badFailures.share === null ? '–' : `${Number((badFailures.share * 100).toFixed(2))}%`,
      },
    ],
  }));
  const scale = linearScale([
    ...marked.flatMap(({ marks }) => marks.map(({ high }) => high)),
    ...targets.map(({ at }) => at),
  ]);
  return {
    svg: ranges('bad failures, and the service level', marked, scale, percent, targets),
    note: `bad failures, at most ${percent(1 - OBJECTIVES.worked)}; green: kept, red: missed`,
  };
}

function doraBars({ dora: rows }: StatsReport): Figure {
  const panel = (title: string, valueOf: (row: Dora) => number | null, words: (value: number) => string): BarPanel => ({
    title,
    rows: rows.map((row) => {
      const value = valueOf(row);
      return { name: row.category, value, label: value === null ? '–' : words(value) };
    }),
  });
  const panels = [
    panel(
      'deploys a day',
      ({ deploysPerDay }) => deploysPerDay,
      (value) => value.toFixed(1),
    ),
    panel('lead time', ({ leadMs }) => leadMs, formatDuration),
    panel('change failures', ({ changeFailures }) => changeFailures.share, percent),
    panel('time to restore', ({ restoreMs }) => restoreMs, formatDuration),
  ];
  return {
    svg: barPanels('the four measures of DORA', panels),
    note: 'frequency, lead time, failures, time to restore',
  };
}
