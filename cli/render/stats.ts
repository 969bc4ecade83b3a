import type { StatsReport } from '../../domain/stats/report';
import { table } from './columns';
import { paint, type View } from './paint';
import { statsTables, unreadWords } from './statsTables';
import { minuteWords } from './times';

/** The tables of `stats`, as those of Conveyor §6: categories are rows. */
export function statsText(report: StatsReport, view: View): string {
  const colors = paint(view.color);
  const { since, until, readUntil } = report;
  const parts = [
    colors.dim(`what ended from ${minuteWords(since)} to ${minuteWords(until)}`),
    ...(readUntil === null
      ? [colors.yellow('nothing is archived yet: workers that have an archive look now and then')]
      : [colors.dim(`archived until ${minuteWords(readUntil)}`)]),
    ...(report.unread ? [colors.yellow(unreadWords(report))] : []),
    ...statsTables(report).map(({ title, headings, rows }) =>
      ['', colors.bold(title), table(['CATEGORY', ...headings], rows, 'none', view)].join('\n'),
    ),
  ];
  return parts.join('\n');
}
