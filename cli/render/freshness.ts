import type { FreshnessReport, FreshnessView } from '../../domain/freshness/report';
import { plural } from '../../domain/text';
import { paint, table, tint, type View } from './paint';
import { ago, until, type StatusSymbol } from './words';

const FRESHNESS_SYMBOLS: Readonly<Record<FreshnessView['state'], StatusSymbol>> = {
  fresh: { glyph: '✔', tone: 'good' },
  stale: { glyph: '⚠', tone: 'warn' },
  overdue: { glyph: '✖', tone: 'bad' },
  never: { glyph: '·', tone: 'quiet' },
};

/** `conveyor freshness`; so many `more` pipelines are not in the report. */
export function freshnessText({ pipelines, weekly }: FreshnessReport, more: number, view: View): string {
  const colors = paint(view.color);
  const cells = pipelines.map((row) => {
    const { glyph, tone } = FRESHNESS_SYMBOLS[row.state];
    const what = row.state === 'never' ? 'never deployed' : row.state;
    return [
      colors.bold(row.id),
      tint(colors, tone, `${glyph} ${what}`),
      row.deployedAt === null ? '–' : ago(row.deployedAt, view),
      row.dueAt === null ? '–' : `${row.state === 'fresh' ? 'stale' : 'overdue'} ${until(row.dueAt, view)}`,
      row.because ?? '–',
      row.owners.join(', '),
    ];
  });
  const heading = ['PIPELINE', 'STATE', 'DEPLOYED', 'NEXT', 'STOPPED', 'OWNERS'];
  const rows = table(heading, cells, 'no pipelines; conveyor init writes a first one', view);
  const percent = Math.floor((weekly ?? 0) * 1000) / 10;
  const share = weekly === null ? [] : [`${percent} % of the pipelines that ever deployed did so in the last week.`];
  const rest = more === 0 ? [] : [`${plural(more, 'pipeline')} more: --limit ${pipelines.length + more}`];
  return [rows, ...[...share, ...rest].map((line) => colors.dim(line))].join('\n');
}
