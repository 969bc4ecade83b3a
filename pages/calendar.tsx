import type { AgendaMoment, PipelineAgenda } from '../domain/agenda';
import { groupBy } from '../domain/groupBy';
import { PAGE_LIMITS } from '../domain/limits';
import { forPeople } from '../render/times';
import { agendaDay, describeSpan, MOMENT_WORDS } from '../render/agenda';
import type { View } from '../render/paint';
import { DayChart, type DayChartPeriod } from './calendar/chart';
import type { Frame } from './frame';
import type { CalendarModel } from './models';
import { FilterForm, FilterText, Paging, toPageLink } from './parts/filters';
import { Layout, toDocument } from './parts/layout';
import { Notes } from './parts/listing';
import { More, Section, Table } from './parts/section';
import { KeptNote } from './parts/stale';
import { ClockTime, Command, IdLink, Prose } from './parts/text';
import { FirstSteps } from './pipelines';

/** Fourteen days: when pipelines may deploy, and what is planned. */
export function renderCalendarPage(given: CalendarModel, frame: Frame): string {
  const { next, ...rest } = given;
  const model = forPeople(rest, frame.view);
  const { filters, agendas, total, isLater, kept } = model;
  return toDocument(
    <Layout frame={frame} title="Calendar" heading="Calendar of fourteen days">
      <KeptNote kept={kept} view={frame.view} />
      <FilterForm action="/calendar" label="Filter of pipelines">
        <FilterText name="q" label="Name begins with" value={filters.q} />
        <FilterText name="owner" label="Owner" value={filters.owner} example="group:storage" />
        <FilterText name="label" label="Label" value={filters.label} example="team=storage" />
      </FilterForm>
      {agendas.length === 0 ? <NoPipelines model={model} /> : null}
      <Section id="days" title={countPipelines(agendas.length, total)} note={<Key />}>
        {agendas.map((agenda) => (
          <PipelineDays agenda={agenda} period={model} view={frame.view} />
        ))}
        <Paging
          first={isLater ? toPageLink('/calendar', { ...given.filters }) : null}
          next={next === null ? null : toPageLink('/calendar', { ...given.filters, cursor: next })}
        />
      </Section>
      <Moments agendas={agendas} view={frame.view} />
    </Layout>,
  );
}

const countPipelines = (shown: number, total: number | null): string =>
  `${shown} of ${total === null ? 'the' : total.toLocaleString('en')} pipelines, ${PAGE_LIMITS.calendar.max} on a page`;

function NoPipelines({ model: { filters, isLater } }: { readonly model: Omit<CalendarModel, 'next'> }) {
  if (!isLater && Object.values(filters).every((value) => value === '')) return <FirstSteps />;
  return (
    <p class="empty">
      No pipeline fits these filters. <a href="/calendar">Show all</a>
    </p>
  );
}

const KEYS = [
  ['open', 'M0 0h10v10h-10z', 'a window is open'],
  ['closed', 'M0 1h10v3h-10zm0 5h10v3h-10z', 'blackout'],
  ['frozen', 'M0 3h10v4h-10z', 'frozen'],
  ['release', 'M5 0l5 10h-10z', 'the calendar fires'],
  ['end', 'M5 1l4 4-4 4-4-4z', 'a freeze or a deploy ends'],
] as const;

function Key() {
  return (
    <>
      Days are in UTC. Without a bar, deploys may begin at any time.{' '}
      {KEYS.map(([kind, path, words]) => (
        <span class="nowrap">
          <svg class={`key ${kind}`} viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
            <path d={path} />
          </svg>{' '}
          {words}{' '}
        </span>
      ))}
    </>
  );
}

interface DaysProps {
  readonly agenda: PipelineAgenda;
  readonly period: DayChartPeriod;
  readonly view: View;
}

/** One pipeline: the days as a drawing, and the same in words. */
function PipelineDays({ agenda, period, view }: DaysProps) {
  const { id, spans, moments, isCut, problem } = agenda;
  const words = spans.map((span) => describeSpan(span, view));
  return (
    <div id={`days-${id}`}>
      <h3>
        <IdLink id={id} />
      </h3>
      {problem === null ? null : <Notes lines={[`⚠ ${problem}`]} />}
      {problem === null && spans.length + moments.length === 0 ? (
        <p class="note">Deploys may begin at any time, and nothing is planned.</p>
      ) : null}
      {spans.length + moments.length === 0 ? null : <DayChart agenda={agenda} period={period} now={view.now} />}
      {words.length === 0 ? null : (
        <details>
          <summary>in words</summary>
          <ul>
            {words.slice(0, SPANS_IN_WORDS).map((line) => (
              <li>
                <Prose text={line} />
              </li>
            ))}
          </ul>
          <More count={words.length - SPANS_IN_WORDS} noun="times" />
        </details>
      )}
      {isCut ? <p class="note">Its calendar fires more often than is shown.</p> : null}
    </div>
  );
}

const SPANS_IN_WORDS = 12;

/** All that is planned, by day. */
function Moments({ agendas, view }: { readonly agendas: readonly PipelineAgenda[]; readonly view: View }) {
  const all = agendas.flatMap(({ moments }) => moments).sort((a, b) => a.at.localeCompare(b.at));
  const shown = all.slice(0, PAGE_LIMITS.moments.max);
  return (
    <Section id="planned" title="Planned">
      {shown.length === 0 ? (
        <p class="empty">
          Nothing is planned. A pipeline gets a calendar by <code>schedule</code> in its file, and a freeze an end by{' '}
          <Command text="conveyor freeze NAME --until TIME --reason WHY" />
        </p>
      ) : null}
      {groupBy(shown, ({ at }) => at.slice(0, 10)).map(([day, moments]) => (
        <DayTable day={day} moments={moments} view={view} />
      ))}
      <More count={all.length - shown.length} noun="entries" />
    </Section>
  );
}

interface DayTableProps {
  readonly day: string;
  readonly moments: readonly AgendaMoment[];
  readonly view: View;
}

function DayTable({ day, moments, view }: DayTableProps) {
  return (
    <>
      <h3>{agendaDay(day)}</h3>
      <Table
        caption={`Planned on ${agendaDay(day)}`}
        headings={['Time', 'What', 'Pipeline or deploy', 'Note']}
        rows={moments.map(({ at, kind, id, text }) => [
          <ClockTime iso={at} view={view} />,
          MOMENT_WORDS[kind],
          <IdLink id={id} />,
          <Prose text={text} />,
        ])}
      />
    </>
  );
}
