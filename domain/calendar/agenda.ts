import { AGENDA_DAYS, type AgendaMoment, type AgendaSpan, type PipelineAgenda } from '../agenda';
import { groupBy } from '../groupBy';
import { workflowIds } from '../ids';
import { DAY_MS } from '../milliseconds';
import { toOpenTimes, withBlackouts } from '../release/openTimes';
import type { PipelineSpec } from '../spec/pipeline';
import { formatTime } from '../text';
import type { PipelineSummary } from '../views';
import { spanAt, type Blackout, type Span } from './blackout';
import { nextSpreadTick } from './spread';
import { listOpeningsAround, type Window } from './window';

/** Fourteen days in ms since the epoch. */
export interface AgendaPeriod {
  readonly fromMs: number;
  readonly toMs: number;
}

/** From the beginning of the present day in UTC. */
export function getAgendaPeriod(nowMs: number): AgendaPeriod {
  const fromMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return { fromMs, toMs: fromMs + AGENDA_DAYS * DAY_MS };
}

interface AgendaFacts {
  readonly pipeline: Pick<PipelineSummary, 'id' | 'state' | 'frozenUntil' | 'stopped'>;
  readonly spec: Pick<PipelineSpec, 'actions' | 'blackouts' | 'schedule'>;
  /** The longest delay of a calendar, of which each pipeline has its share. */
  readonly spreadMs: number;
  readonly nowMs: number;
}

/** More than these are not listed. */
const MOST_SPANS = 30;
const MOST_TICKS = 40;

/** The windows, blackouts, freezes and scheduled times of a pipeline, from its file and its state. */
export function planAgenda(facts: AgendaFacts, period: AgendaPeriod): PipelineAgenda {
  const groups = groupActions(facts.spec);
  const blackouts = groups.flatMap(({ actions, blackouts: all }) =>
    all.flatMap((blackout) => listBlackoutSpans(blackout, actions, period)),
  );
  const ticks = listTicks(facts, period);
  const moments = [...ticks.moments, ...listThaws(facts, period), ...listBlackoutStarts(facts, blackouts)];
  return {
    id: facts.pipeline.id,
    spans: [...groups.flatMap((group) => listOpenSpans(group, period)), ...blackouts, ...listFreezes(facts, period)],
    moments: moments.sort((a, b) => a.at.localeCompare(b.at)),
    ...{ isCut: ticks.isCut, problem: null },
  };
}

interface ActionGroup {
  readonly actions: readonly string[];
  readonly windows: readonly Window[];
  readonly blackouts: readonly Blackout[];
}

/** Actions with the same open times share them. */
function groupActions(spec: AgendaFacts['spec']): readonly ActionGroup[] {
  const timed = Object.entries(spec.actions).flatMap(([name, action]) => {
    const open = toOpenTimes(withBlackouts(spec, action));
    return open === undefined ? [] : [{ name, open }];
  });
  return groupBy(timed, ({ open }) => JSON.stringify(open)).flatMap(([, [first, ...others]]) =>
    first === undefined ? [] : [{ ...first.open, actions: [first, ...others].map(({ name }) => name) }],
  );
}

/** The windows of a group without its blackouts; the same as `getOpeningState`, which finds one change at a time. */
function listOpenSpans({ actions, windows, blackouts }: ActionGroup, period: AgendaPeriod): AgendaSpan[] {
  const { fromMs, toMs } = period;
  const open = joinSpans(
    windows
      .flatMap((window) => listOpeningsAround(window, fromMs))
      .map(({ opensAtMs, closesAtMs }) => ({ fromMs: Math.max(opensAtMs, fromMs), toMs: Math.min(closesAtMs, toMs) })),
  );
  const closed = joinSpans(blackouts.flatMap((blackout) => listTimes(blackout, period)));
  return closed
    .reduce(withoutSpan, open)
    .slice(0, MOST_SPANS)
    .map((span) => createSpan('open', actions, span.fromMs, span.toMs, null));
}

/** In order and disjoint; those of no length are left out. */
const joinSpans = (spans: readonly Span[]): readonly Span[] =>
  [...spans]
    .filter(({ fromMs, toMs }) => fromMs < toMs)
    .sort((a, b) => a.fromMs - b.fromMs)
    .reduce<readonly Span[]>((joined, next) => {
      const last = joined.at(-1);
      if (last === undefined || next.fromMs > last.toMs) return [...joined, next];
      return [...joined.slice(0, -1), { ...last, toMs: Math.max(last.toMs, next.toMs) }];
    }, []);

const withoutSpan = (spans: readonly Span[], { fromMs, toMs }: Span): readonly Span[] =>
  spans.flatMap((span) =>
    [
      { fromMs: span.fromMs, toMs: Math.min(span.toMs, fromMs) },
      { fromMs: Math.max(span.fromMs, toMs), toMs: span.toMs },
    ].filter((rest) => rest.fromMs < rest.toMs),
  );

const listBlackoutSpans = (
  blackout: Blackout,
  actions: readonly string[],
  period: AgendaPeriod,
): readonly AgendaSpan[] =>
  listTimes(blackout, period).map(({ fromMs, toMs }) => createSpan('blackout', actions, fromMs, toMs, blackout.reason));

/** The times of a blackout within the period. */
function listTimes(blackout: Blackout, { fromMs, toMs }: AgendaPeriod): readonly Span[] {
  const found: Span[] = [];
  let atMs = fromMs;
  while (found.length < MOST_SPANS) {
    const span = spanAt(blackout, atMs);
    if (span === undefined || span.fromMs >= toMs) break;
    found.push({ fromMs: Math.max(span.fromMs, fromMs), toMs: Math.min(span.toMs, toMs) });
    // A rule that does not advance ends the list.
    if (span.toMs <= atMs) break;
    atMs = span.toMs;
  }
  return found;
}

const createSpan = (
  kind: AgendaSpan['kind'],
  actions: readonly string[],
  fromMs: number,
  toMs: number,
  why: string | null,
): AgendaSpan => ({ kind, actions, from: formatTime(fromMs), to: formatTime(toMs), why });

function listFreezes({ pipeline, nowMs }: AgendaFacts, { toMs }: AgendaPeriod): AgendaSpan[] {
  if (pipeline.state !== 'frozen') return [];
  const untilMs = Math.min(toMs, Date.parse(pipeline.frozenUntil ?? '') || toMs);
  return untilMs <= nowMs ? [] : [createSpan('frozen', [], nowMs, untilMs, pipeline.stopped?.reason ?? null)];
}

function listThaws({ pipeline: { id, frozenUntil } }: AgendaFacts, { toMs }: AgendaPeriod): AgendaMoment[] {
  const untilMs = Date.parse(frozenUntil ?? '');
  return untilMs < toMs ? [{ kind: 'thaw', at: formatTime(untilMs), id, text: 'the freeze lifts itself' }] : [];
}

/** Each beginning once, although several actions have it. */
function listBlackoutStarts({ pipeline: { id }, nowMs }: AgendaFacts, spans: readonly AgendaSpan[]): AgendaMoment[] {
  const ahead = spans.filter(({ from }) => Date.parse(from) > nowMs);
  const starts = new Map(ahead.map((span) => [`${span.from} ${span.why}`, span]));
  return [...starts.values()].map(({ from, to, why }) => ({
    ...{ kind: 'blackout', at: from, id },
    text: `blackout until ${to}: ${why ?? ''}`,
  }));
}

function listTicks(
  { pipeline: { id }, spec: { schedule }, spreadMs, nowMs }: AgendaFacts,
  { toMs }: AgendaPeriod,
): { readonly moments: AgendaMoment[]; readonly isCut: boolean } {
  const { mode, calendar, timezone = 'UTC', gates } = schedule;
  if (mode !== 'calendar' || calendar === undefined) return { moments: [], isCut: false };
  const text = gates === 'releases' ? 'releases may begin' : 'deploys may begin';
  const moments: AgendaMoment[] = [];
  let atMs = nextSpreadTick({ calendar, timezone, of: workflowIds.pipeline(id) }, spreadMs, nowMs);
  while (atMs !== null && atMs < toMs) {
    if (moments.length >= MOST_TICKS) return { moments, isCut: true };
    moments.push({
      kind: 'calendar',
      at: formatTime(atMs),
      id,
      text: `${text}, by the calendar ${calendar} (${timezone})`,
    });
    atMs = nextSpreadTick({ calendar, timezone, of: workflowIds.pipeline(id) }, spreadMs, atMs);
  }
  return { moments, isCut: false };
}
