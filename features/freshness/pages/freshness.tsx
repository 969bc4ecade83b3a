import type { Frame } from '../../../pages/frame';
import type { KeptState } from '../../../pages/models';
import { FilterChoice, FilterForm, FilterText, Paging, toPageLink } from '../../../pages/parts/filters';
import { Layout, toDocument } from '../../../pages/parts/layout';
import { Listing, Notes } from '../../../pages/parts/listing';
import { Section } from '../../../pages/parts/section';
import { KeptNote } from '../../../pages/parts/stale';
import { IdLink, TimeAgo } from '../../../pages/parts/text';
import { forPeople } from '../../../render/times';
import type { FreshnessReport } from '../domain/report';
import { freshnessTexts } from '../render/freshness';

export const FRESHNESS_STATES = ['overdue', 'stale', 'fresh', 'never'] as const;

/** A page of the report. */
export interface FreshnessModel {
  /** With the pipelines of the page alone. */
  readonly report: FreshnessReport;
  /** All that fit the filters. */
  readonly total: number;
  readonly filters: { readonly owner: string; readonly state: string };
  /** The place of the first one among all. */
  readonly from: number;
  /** The report is older than its life; null for a young one. */
  readonly kept: KeptState | null;
}

/** Pipelines that have not been deployed for long, worst first. */
export function renderFreshnessPage(given: FreshnessModel, frame: Frame): string {
  const { report, total, filters, from, kept } = forPeople(given, frame.view);
  const { below, ...texts } = freshnessTexts(report, frame.view);
  const next = from + report.pipelines.length;
  return toDocument(
    <Layout frame={frame} title="Freshness" heading="Freshness" command="conveyor freshness">
      <KeptNote kept={kept} view={frame.view} />
      <FilterForm action="/freshness" label="Filter of pipelines">
        <FilterText name="owner" label="Owner" value={filters.owner} example="group:storage" />
        <FilterChoice
          name="state"
          label="State"
          value={filters.state}
          choices={[['', 'any'], ...FRESHNESS_STATES.map((one) => [one, one] as const)]}
        />
      </FilterForm>
      <Section
        id="pipelines"
        title={`${total.toLocaleString('en')} ${total === 1 ? 'pipeline' : 'pipelines'}`}
        note="Those that have waited longest for a deploy come first."
      >
        <Notes lines={below} />
        <Listing
          caption="Pipelines by their last deploy"
          texts={texts}
          cells={{
            PIPELINE: (_nth, id) => <IdLink id={id} />,
            DEPLOYED: (nth, text) => {
              const { deployedAt = null } = report.pipelines[nth] ?? {};
              return deployedAt === null ? text : <TimeAgo iso={deployedAt} view={frame.view} />;
            },
          }}
          empty={
            filters.owner === '' && filters.state === '' ? (
              texts.empty
            ) : (
              <>
                No pipeline fits. <a href="/freshness">Show all</a>
              </>
            )
          }
        />
        <Paging
          first={from > 0 ? toPageLink('/freshness', filters) : null}
          next={next < total ? toPageLink('/freshness', { ...filters, from: next }) : null}
        />
      </Section>
    </Layout>,
  );
}
