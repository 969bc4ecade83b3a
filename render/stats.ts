import type { StatsReport } from '../domain/stats/report';
import { blockTable } from './columns';
import { fold, foldAll, paint, type View } from './paint';
import { statsTables, unreadWords } from './statsTables';
import { minuteWords } from './times';

/** The tables of `stats`, after those of Conveyor §6: categories are rows. */
export function statsText(report: StatsReport, view: View): string {
  const colors = paint(view.color);
  const { since, until, readUntil } = report;
  const heading = [
    colors.dim(`releases and deploys that ended from ${minuteWords(since)} to ${minuteWords(until)}`),
    ...(readUntil === null
      ? [colors.yellow('nothing is archived yet: workers with an archive fill it from time to time')]
      : [colors.dim(`archived until ${minuteWords(readUntil)}`)]),
    ...(report.unread ? [colors.yellow(unreadWords(report))] : []),
  ];
  const parts = [
    ...foldAll(heading, view),
    ...statsTables(report).map(({ title, headings, rows }) =>
      ['', ...fold(colors.bold(title), view.width), blockTable(['CATEGORY', ...headings], rows, 'none', view)].join(
        '\n',
      ),
    ),
  ];
  return parts.join('\n');
}
