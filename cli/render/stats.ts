import { OBJECTIVES, type Breakdown, type StatsReport } from '../../domain/stats/report';
import { formatDuration } from '../../domain/text';
import { paint, table, type View } from './paint';
import { clock, shareWords } from './words';

/** The tables of `stats`, as those of Conveyor §6: categories are rows. */
export function statsText(report: StatsReport, view: View): string {
  const colors = paint(view.color);
  const { since, until, readUntil } = report;
  const parts = [
    colors.dim(`what ended from ${clock(since, view)} to ${clock(until, view)}`),
    ...(readUntil === null
      ? [colors.yellow('nothing is archived yet: workers that have an archive look now and then')]
      : [colors.dim(`archived until ${clock(readUntil, view)}`)]),
    ...sections(report).map(({ title, headings, rows }) =>
      ['', colors.bold(title), table(['CATEGORY', ...headings], rows, 'none', view)].join('\n'),
    ),
  ];
  return parts.join('\n');
}

interface Section {
  readonly title: string;
  readonly headings: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const sections = (report: StatsReport): readonly Section[] => [
  ofShares('Schedules of pipelines', 'PIPELINES', report.schedules),
  ofShares('End states of releases', 'RELEASES', report.endStates),
  ofShares('Failed releases, by the action that failed first', 'FAILED', report.failedActions),
  {
    title: 'Errors of health checks',
    headings: ['FALSE NEGATIVES', 'OF', 'FALSE POSITIVES', 'OF'],
    rows: report.checkErrors.map(({ category, falseNegatives: fn, falsePositives: fp }) => [
      ...[category, shareWords(fn), String(fn.of), shareWords(fp), String(fp.of)],
    ]),
  },
  ofShares('Unhealthy checks, by what they look at', 'CHECKS', report.failedChecks),
  ofShares('Where deploys of several phases failed', 'DEPLOYS', report.progress),
  {
    title: 'Where the time of deploys went',
    headings: ['TIME', ...headingsOf(report.spans)],
    rows: report.spans.map((one) => [one.category, formatDuration(one.whole), ...cells(one)]),
  },
  {
    title: 'How long deploys took that succeeded',
    headings: ['DEPLOYS', 'P50', 'P99'],
    rows: report.deployTimes.map(({ category, count, p50Ms, p99Ms }) => [
      ...[category, String(count), formatDuration(p50Ms), formatDuration(p99Ms)],
    ]),
  },
  {
    title: 'Actions of a pipeline',
    headings: ['PIPELINES', 'MEAN', ...headingsOf(report.pipelineSizes)],
    rows: report.pipelineSizes.map((one) => [one.category, String(one.whole), one.mean.toFixed(1), ...cells(one)]),
  },
  ofShares('Pipelines that have an action of a type', 'PIPELINES', report.actionTypes),
  {
    title: `Service level: ${percent(OBJECTIVES.worked)} succeed or fail for good reason, less than ${percent(OBJECTIVES.badFailures)} fail by Conveyor`,
    headings: ['DEPLOYS', 'WORKED', 'GOOD FAILURES', 'BAD FAILURES'],
    rows: report.serviceLevel.map(({ category, deploys, worked, goodFailures, badFailures }) => [
      ...[category, String(deploys), shareWords(worked), shareWords(goodFailures), shareWords(badFailures)],
    ]),
  },
  {
    title: 'DORA',
    headings: ['DEPLOYS A DAY', 'LEAD TIME', 'CHANGE FAILURES', 'TIME TO RESTORE'],
    rows: report.dora.map(({ category, deploysPerDay, leadMs, changeFailures, restoreMs }) => [
      ...[category, deploysPerDay.toFixed(1), timeCell(leadMs), shareWords(changeFailures), timeCell(restoreMs)],
    ]),
  },
];

const ofShares = (title: string, whole: string, rows: readonly Breakdown[]): Section => ({
  title,
  headings: [whole, ...headingsOf(rows)],
  rows: rows.map((one) => [one.category, String(one.whole), ...cells(one)]),
});

/** All rows of a table have the same words. */
const headingsOf = ([first]: readonly Breakdown[]): string[] =>
  Object.keys(first?.counts ?? {}).map((word) => word.toUpperCase());

const cells = ({ counts, whole }: Breakdown): string[] =>
  Object.values(counts).map((count) => (whole === 0 ? '-' : percent(count / whole)));

const percent = (share: number): string => `${Number((share * 100).toFixed(1))}%`;
const timeCell = (ms: number | null): string => (ms === null ? '-' : formatDuration(ms));
