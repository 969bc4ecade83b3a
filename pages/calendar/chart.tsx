import { AGENDA_DAYS, type AgendaSpan, type PipelineAgenda } from '../../domain/agenda';
import { groupBy } from '../../domain/groupBy';
import { DAY_MS } from '../../domain/milliseconds';
import { plural } from '../../domain/text';
import { shortAgendaDay } from '../../render/agenda';
import type { CalendarModel } from '../models';

/** The days of one pipeline as a drawing: a column for each day, a line for each group of actions. */

export type DayChartPeriod = Pick<CalendarModel, 'from' | 'to'>;

const [DAY_WIDTH, HEAD, LINE, BAR, FOOT] = [60, 16, 18, 10, 14] as const;
const DAYS_WIDTH = DAY_WIDTH * AGENDA_DAYS;

const CLASS_BY_KIND = { open: 'open', blackout: 'closed', frozen: 'frozen' } as const satisfies Record<
  AgendaSpan['kind'],
  string
>;

interface ChartProps {
  readonly agenda: PipelineAgenda;
  readonly period: DayChartPeriod;
  readonly now: number;
}

export function DayChart({ agenda: { id, spans, moments }, period, now }: ChartProps) {
  const fromMs = Date.parse(period.from);
  const xOf = (iso: string): number => toX(Date.parse(iso), fromMs);
  const all = groupBy(spans, ({ actions }) => actions.join(', '));
  const lines = all.slice(0, MOST_LINES);
  // A blackout has its bars.
  const drawn = moments.filter(({ kind }) => kind !== 'blackout');
  const height = HEAD + Math.max(1, lines.length) * LINE + FOOT;
  const words = `${id}: ${plural(spans.length, 'time')} with a rule and ${plural(moments.length, 'planned moment')} in fourteen days`;
  return (
    <div class="scroll" role="group" aria-label={`Days of ${id}`} tabindex={0}>
      <figure class="days">
        <svg viewBox={`0 0 ${DAYS_WIDTH} ${height}`} role="img" aria-label={words}>
          <Days fromMs={fromMs} height={height} />
          {lines.map(([, its], nth) =>
            groupBy(its, ({ kind }) => kind).map(([, same]) => (
              <path
                class={same[0] && CLASS_BY_KIND[same[0].kind]}
                d={same.map((span) => drawSpan(span, xOf(span.from), xOf(span.to), toY(nth))).join('')}
              />
            )),
          )}
          {drawn.map(({ kind, at }) => (
            <path
              class={kind === 'calendar' ? 'release' : 'end'}
              d={drawMoment(kind === 'calendar', xOf(at), height - FOOT + 2)}
            />
          ))}
          <path class="now" d={`M${toX(now, fromMs)} ${HEAD}V${height}`} />
        </svg>
        <figcaption>
          <bdi>{lines.map(([actions]) => actions || 'all actions').join('; ') || 'all actions'}</bdi>, by day (UTC).
          Source: its file and its state.
          {all.length > lines.length ? ` ${all.length - lines.length} more groups of actions are not drawn.` : ''}
        </figcaption>
      </figure>
    </div>
  );
}

function Days({ fromMs, height }: { readonly fromMs: number; readonly height: number }) {
  const days = Array.from({ length: AGENDA_DAYS }, (_, nth) => new Date(fromMs + nth * DAY_MS).toISOString());
  return (
    <>
      {days.map((day, nth) => (
        <g>
          <path class="day" d={`M${nth * DAY_WIDTH + 0.5} 0V${height}`} />
          <text x={nth * DAY_WIDTH + 4} y={11} class={nth === 0 ? 'today' : undefined}>
            {shortAgendaDay(day)}
          </text>
        </g>
      ))}
    </>
  );
}

const toX = (ms: number, fromMs: number): number =>
  Math.round(Math.min(1, Math.max(0, (ms - fromMs) / (AGENDA_DAYS * DAY_MS))) * DAYS_WIDTH * 10) / 10;

/** Each kind has its shape: a bar, two thin bars, and a thin one. */
function drawSpan({ kind }: AgendaSpan, from: number, to: number, y: number): string {
  const end = Math.max(to, from + 1);
  if (kind === 'open') return `M${from} ${y}H${end}v${BAR}H${from}z`;
  if (kind === 'frozen') return `M${from} ${y + 3}H${end}v4H${from}z`;
  return `M${from} ${y}H${end}v3H${from}zM${from} ${y + BAR - 3}H${end}v3H${from}z`;
}

/** More groups of actions than these are not drawn. */
const MOST_LINES = 4;

const toY = (line: number): number => HEAD + line * LINE + (LINE - BAR) / 2;

const drawMoment = (isTick: boolean, x: number, y: number): string =>
  isTick ? `M${x} ${y}l5 10h-10z` : `M${x} ${y}l5 5-5 5-5-5z`;
