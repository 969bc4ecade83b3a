import { raw } from 'hono/html';
import type { StatsReport } from '../domain/stats/report';
import { PAGE_LIMITS } from '../domain/limits';
import { GROUPINGS } from '../domain/stats/tallies';
import { allOnOneLine } from '../domain/plainText';
import { statsCharts, type Figure } from '../render/statsCharts';
import { statsTables, unreadWords, type StatsTable } from '../render/statsTables';
import { minuteWords } from '../render/times';
import type { Frame } from './frame';
import type { StatsModel } from './models';
import { FilterChoice, FilterForm, FilterText } from './parts/filters';
import { Layout, toDocument } from './parts/layout';
import { Notes } from './parts/listing';
import { Section, Table } from './parts/section';
import { Command } from './parts/text';

const PERIODS = ['7d', '21d', '90d', '365d'] as const;

/** Statistics of releases and deploys: each table with its chart. */
export function renderStatsPage(given: StatsModel, frame: Frame): string {
  const { filters, report } = allOnOneLine(given);
  return toDocument(
    <Layout
      frame={frame}
      title="Statistics"
      heading="Statistics of releases and deploys"
      command={`conveyor stats --since ${filters.since} --by ${filters.by}`}
    >
      <FilterForm action="/stats" label="Period and grouping" button="Show">
        <FilterChoice
          name="since"
          label="Ended within"
          value={filters.since}
          choices={listPeriods(filters.since).map((period) => [period, period] as const)}
        />
        <FilterChoice
          name="by"
          label="Pipelines"
          value={filters.by}
          choices={GROUPINGS.map((by) => [by, by === 'all' ? 'all together' : 'by label category'] as const)}
        />
        <FilterText name="category" label="Category" value={filters.category} example="storage" />
      </FilterForm>
      {report === null ? <NoArchive /> : <StatsSections report={report} category={filters.category} />}
    </Layout>,
  );
}

const listPeriods = (since: string): readonly string[] => [
  ...PERIODS,
  ...(PERIODS.some((period) => period === since) ? [] : [since]),
];

function NoArchive() {
  return (
    <div class="empty">
      <p>
        This server has no archive, so there are no statistics. Add the section <code>archive</code> to
        conveyor.config.yaml and restart workers and servers; workers fill it from time to time. These commands show how
        far it is:
      </p>
      <ul class="commands">
        <li>
          <Command text="conveyor doctor" />
        </li>
        <li>
          <Command text="conveyor stats" />
        </li>
      </ul>
    </div>
  );
}

function StatsSections({ report: whole, category }: { readonly report: StatsReport; readonly category: string }) {
  const all = [...new Set(whole.dora.map((row) => row.category))];
  const shown = all.filter((one) => category === '' || one === category).slice(0, PAGE_LIMITS.categories.max);
  const report = pickCategories(whole, new Set(shown));
  const { since, until, readUntil } = report;
  const span = `releases and deploys that ended from ${minuteWords(since)} to ${minuteWords(until)}`;
  const charts = statsCharts(report);
  return (
    <>
      <Notes
        lines={[
          span,
          readUntil === null
            ? '⚠ nothing is archived yet: workers with an archive fill it from time to time'
            : `archived until ${minuteWords(readUntil)}`,
          ...(all.length > shown.length
            ? [
                `${shown.length} of ${all.length} categories; the filter shows another one, and the JSON has all of them`,
              ]
            : []),
          ...(report.unread ? [`⚠ ${unreadWords(report)}`] : []),
        ]}
      />
      <div class="plots">
        {statsTables(report).map((table) => (
          <Section id={toSectionId(table.id)} title={table.title}>
            <Plot table={table} figure={charts[table.id]} source={`the archive, ${span}`} />
          </Section>
        ))}
      </div>
    </>
  );
}

/** The same report about some categories alone. */
const pickCategories = (report: StatsReport, names: ReadonlySet<string>): StatsReport =>
  Object.fromEntries(
    Object.entries(report).map(([part, value]: [string, unknown]) => [
      part,
      Array.isArray(value) ? value.filter(({ category }: { readonly category: string }) => names.has(category)) : value,
    ]),
  ) as unknown as StatsReport;

/** `stats-dora`: no id of the frame of a page. */
const toSectionId = (id: string): string => `stats-${id.toLowerCase()}`;

interface PlotProps {
  readonly table: StatsTable;
  readonly figure: Figure;
  readonly source: string;
}

/** A chart, its colours in words, and the same as a table. */
function Plot({ table, figure: { svg, legend = [], note }, source }: PlotProps) {
  if (table.rows.length === 0) return <p class="empty">none</p>;
  return (
    <>
      {legend.length === 0 ? null : (
        <ul class="legend">
          {legend.map(({ color, word }) => (
            <li>
              <svg class="plot" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
                <rect class={color} width="10" height="10" />
              </svg>{' '}
              <bdi>{word}</bdi>
            </li>
          ))}
        </ul>
      )}
      <figure class="plot">
        {raw(svg)}
        <figcaption>
          {note}. Source: {source}.
        </figcaption>
      </figure>
      <details>
        <summary>as a table</summary>
        <Table
          caption={table.title}
          headings={['Category', ...table.headings.map((heading) => heading.toLowerCase())]}
          rows={table.rows.map((row) => row.map((cell) => <bdi>{cell}</bdi>))}
        />
      </details>
    </>
  );
}
