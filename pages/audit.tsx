import { AUDIT_OUTCOMES } from '../domain/audit/record';
import { parseId } from '../domain/ids';
import { auditTexts } from '../render/audit';
import { forPeople } from '../render/times';
import type { Frame } from './frame';
import type { AuditFilters, AuditModel } from './models';
import { FilterChoice, FilterForm, FilterText, Paging, toPageLink } from './parts/filters';
import { Layout, toDocument } from './parts/layout';
import { Listing, SignedText } from './parts/listing';
import { Section } from './parts/section';
import { Command, IdLink, TimeAgo } from './parts/text';

/** Changes and refusals on record, newest first. */
export function renderAuditPage(given: AuditModel, frame: Frame): string {
  const { next, ...model } = given;
  const { filters, records, isLater } = forPeople(model, frame.view);
  return toDocument(
    <Layout frame={frame} title="Audit" heading="Audit" command={toAuditCommand(filters)}>
      <AuditFilter filters={filters} />
      {records === null ? (
        <NoAudit />
      ) : (
        <Section id="records" title="Changes and refusals" note="Newest first.">
          <Listing
            caption="Records of the audit"
            texts={auditTexts(records, frame.view, true)}
            cells={{
              WHEN: (nth) => <TimeAgo iso={records[nth]?.at ?? ''} view={frame.view} />,
              DID: (nth, text) => (
                <>
                  <SignedText text={text} />
                  <span class="about">{records[nth]?.outcome}</span>
                </>
              ),
              WHAT: (_nth, text) => (parseId(text) === undefined ? <bdi>{text}</bdi> : <IdLink id={text} />),
            }}
            empty={
              <>
                No record fits. <a href="/audit">Show all</a>
              </>
            }
          />
          <Paging
            first={isLater ? toPageLink('/audit', { ...given.filters }) : null}
            next={next === null ? null : toPageLink('/audit', { ...given.filters, before: next })}
          />
        </Section>
      )}
    </Layout>,
  );
}

function AuditFilter({ filters }: { readonly filters: AuditFilters }) {
  return (
    <FilterForm action="/audit" label="Filter of records">
      <FilterText name="pipeline" label="Pipeline" value={filters.pipeline} example="kvstore" />
      <FilterText name="actor" label="Person or program" value={filters.actor} example="user:alice" />
      <FilterText name="since" label="Since" value={filters.since} example="2h" />
      <FilterChoice
        name="outcome"
        label="Outcome"
        value={filters.outcome}
        choices={[['', 'any'], ...AUDIT_OUTCOMES.map((outcome) => [outcome, outcome] as const)]}
      />
    </FilterForm>
  );
}

function NoAudit() {
  return (
    <div class="empty">
      <p>
        This server keeps no audit: conveyor.config.yaml has no section <code>audit</code>. Add one and restart the
        server. Then this page shows who changed what, who was refused, and why; and a terminal shows the same with
      </p>
      <p>
        <Command text="conveyor audit --since 2h" />
      </p>
    </div>
  );
}

const toAuditCommand = (filters: AuditFilters): string =>
  [
    'conveyor audit',
    ...Object.entries(filters as AuditFilters & Record<string, string>).flatMap(([name, value]) =>
      value === '' ? [] : [`--${name} ${value}`],
    ),
  ].join(' ');
