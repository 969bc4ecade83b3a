import type { FreshnessReport, TicketsReport } from '../domain/report';
import type { FreshnessView, TicketView } from '../domain/view';
import { conjugate, plural } from '../../../domain/text';
import { listTable, type ListTexts } from '../../../render/columns';
import { paint, tint, type View } from '../../../render/paint';
import { ago, until } from '../../../render/times';
import type { StatusSymbol } from '../../../render/words';

const FRESHNESS_SYMBOLS: Readonly<Record<FreshnessView['state'], StatusSymbol>> = {
  fresh: { glyph: '✔', tone: 'good' },
  stale: { glyph: '⚠', tone: 'warn' },
  overdue: { glyph: '✖', tone: 'bad' },
  never: { glyph: '·', tone: 'quiet' },
};

/** `conveyor freshness`; `more` is the number of pipelines not in the report. */
export function freshnessText(report: FreshnessReport, more: number, view: View, wide: boolean = false): string {
  const { below, ...texts } = freshnessTexts(report, view);
  const rest = more === 0 ? [] : [`${plural(more, 'pipeline')} more: --limit ${report.pipelines.length + more}`];
  const dim = [...below, ...rest].map((line) => paint(view.color).dim(line));
  return listTable({ ...texts, wide, below: dim }, view);
}

export function freshnessTexts(
  { pipelines, weekly, tickets }: FreshnessReport,
  view: View,
): ListTexts & Required<Pick<ListTexts, 'below'>> {
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
      ...(tickets === null ? [] : [ticketCell(row.ticket)]),
      row.owners.join(', '),
    ];
  });
  const heading = [
    'PIPELINE',
    'STATE',
    'DEPLOYED',
    'NEXT',
    'STOPPED',
    ...(tickets === null ? [] : ['TICKET']),
    'OWNERS',
  ];
  const percent = Math.floor((weekly ?? 0) * 1000) / 10;
  const share = weekly === null ? [] : [`${percent}% of the pipelines that ever deployed did so in the last week.`];
  const below = [...share, ...ticketLines(tickets, view)];
  return { heading, rows: cells, empty: 'no pipelines; conveyor init writes a first one', below };
}

function ticketCell(ticket: FreshnessView['ticket']): string {
  if (ticket === null) return '–';
  return [...(ticket.name === null ? [] : [ticket.name]), ...TICKET_STATES[ticket.state]].join(' ');
}

const TICKET_STATES: Readonly<Record<TicketView['state'], readonly string[]>> = {
  waits: ['waits'],
  open: [],
  escalated: ['escalated'],
  resting: ['closed by hand'],
};

/** Problems with tickets; nothing if there are none. */
function ticketLines(tickets: TicketsReport | null, view: View): readonly string[] {
  if (tickets === null) return [];
  const { at, problem, late, refused, said, unticketed } = tickets;
  const missed = late + refused;
  const first = said[0] === undefined ? '' : `, such as ${said[0]}`;
  return [
    ...(problem === null ? [] : [`Tickets were not updated ${ago(at, view)}: ${problem}`]),
    ...(problem === null && missed > 0
      ? [`${plural(missed, 'ticket')} could not be updated ${ago(at, view)}${first}`]
      : []),
    ...(unticketed === 0
      ? []
      : [
          `${plural(unticketed, 'pipeline')} ${conjugate(unticketed, 'wait')} for a ticket: the limit of open tickets is reached.`,
        ]),
  ];
}
