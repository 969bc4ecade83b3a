import type { Counts, Statistics } from '../domain/health/statistics';
import { KEPT_RELEASES } from '../domain/pipeline/recordOutcome';
import { plural } from '../domain/text';
import { table } from './columns';
import { paint, type View } from './paint';
import { clock } from './times';
import { shareWords } from './words';

/** `health statistics -o json`. */
export interface StatisticsReport extends Statistics {
  /** Releases that ended earlier are not counted; null counts all that the pipelines remember. */
  readonly since: string | null;
  /** Pipelines that no longer remember some releases of the period. */
  readonly cut: readonly string[];
}

/** The tables of `health statistics`, after Table 3 of Conveyor; `wide` also lists the counted releases. */
export function statisticsText(report: StatisticsReport, view: View, wide: boolean): string {
  const colors = paint(view.color);
  const { pipelines, categories, cut, since } = report;
  const rows = pipelines.map((one) => [colors.bold(one.pipeline), one.category, ...errorRateCells(one)]);
  const sums = categories.map((one) => [colors.bold(one.category), String(one.pipelines), ...errorRateCells(one)]);
  return [
    table(['PIPELINE', 'CATEGORY', ...HEADING], rows, 'no pipelines; conveyor init writes a first one', view),
    ...(sums.length === 0 ? [] : ['', table(['CATEGORY', 'PIPELINES', ...HEADING], sums, '', view)]),
    ...(wide ? suspectLines(report, view) : []),
    '',
    colors.dim(
      'with bounds of 95% confidence; people also override and undo for other reasons, so shares are upper bounds',
    ),
    ...(since === null ? [] : [colors.dim(`releases that ended since ${clock(since, view)}`)]),
    ...(cut.length === 0 ? [] : [colors.yellow(cutWords(cut))]),
  ].join('\n');
}

const HEADING = ['DEPLOYS', 'FALSE POSITIVES', 'RELEASES', 'FALSE NEGATIVES'];

const errorRateCells = ({ falsePositives, falseNegatives }: Counts): string[] =>
  [falsePositives, falseNegatives].flatMap((one) => [String(one.of), shareWords(one)]);

function suspectLines({ pipelines }: StatisticsReport, view: View): string[] {
  const rows = pipelines.flatMap(({ suspects }) => suspects.map(({ id, kind, why }) => [id, kind, why]));
  return rows.length === 0 ? [] : ['', table(['COUNTED', 'AS', 'WHY'], rows, '', view)];
}

const cutWords = (cut: readonly string[]): string =>
  `a pipeline remembers its last ${KEPT_RELEASES} releases; ${plural(cut.length, 'pipeline')} had more: ${cut.slice(0, 5).join(', ')}${cut.length > 5 ? ', …' : ''}`;
