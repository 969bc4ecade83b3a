import type { Frame } from '../../../pages/frame';
import { FilterChoice, FilterForm, Paging, toPageLink } from '../../../pages/parts/filters';
import { Layout, toDocument } from '../../../pages/parts/layout';
import { Listing, Notes } from '../../../pages/parts/listing';
import { Section, Table } from '../../../pages/parts/section';
import { Command, IdLink, Prose, TimeAgo } from '../../../pages/parts/text';
import { forPeople } from '../../../render/times';
import { numberOfBug, type Bug, type BugHit } from '../domain/bug';
import { bugLines, bugTexts, describeBugState } from '../render/bugs';

export const BUG_STATES = ['open', 'fixed', 'none'] as const;

/** A page of the list of bugs. */
interface BugsModel {
  /** Those of the page, newest first. */
  readonly bugs: readonly Bug[];
  /** All that fit the filter. */
  readonly total: number;
  readonly state: string;
  /** The place of the first one among all. */
  readonly from: number;
}

export function renderBugsPage(given: BugsModel, frame: Frame): string {
  const { bugs, total, state, from } = forPeople(given, frame.view);
  const next = from + bugs.length;
  return toDocument(
    <Layout frame={frame} title="Bugs" heading="Bugs" command="conveyor bugs list">
      <FilterForm action="/bugs" label="Filter of bugs">
        <FilterChoice
          name="state"
          label="State"
          value={state}
          choices={[['', 'any'], ...BUG_STATES.map((one) => [one, one] as const)]}
        />
      </FilterForm>
      <Section id="bugs" title={`${total.toLocaleString('en')} reported`} note="Newest first.">
        <Listing
          caption="Bugs"
          texts={bugTexts(bugs, frame.view)}
          cells={{
            BUG: (_nth, id) => (
              <a href={`/bugs/${numberOfBug(id)}`} class="id">
                <bdi>{id}</bdi>
              </a>
            ),
            REPORTED: (nth) => <TimeAgo iso={bugs[nth]?.at ?? ''} view={frame.view} />,
          }}
          empty={
            state === '' && from === 0 ? (
              <>
                No bug has been reported.{' '}
                <Command text="conveyor bugs report --target //lib:rpc --from REVISION --reason WHY" />
              </>
            ) : (
              <>
                No bug fits. <a href="/bugs">Show all</a>
              </>
            )
          }
        />
        <Paging
          first={from > 0 ? toPageLink('/bugs', { state }) : null}
          next={next < total ? toPageLink('/bugs', { state, from: next }) : null}
        />
      </Section>
    </Layout>,
  );
}

export function renderBugPage(given: Bug, frame: Frame): string {
  const bug = forPeople(given, frame.view);
  const { search } = bug;
  return toDocument(
    <Layout
      frame={frame}
      title={bug.id}
      heading={
        <>
          <bdi>{bug.id}</bdi> <span class="mark">{describeBugState(bug)}</span>
        </>
      }
      above={<a href="/bugs">Bugs</a>}
      command={`conveyor bugs show ${bug.id}`}
    >
      <section id="facts" aria-label="Bug">
        <Notes lines={listFacts(bug, frame)} />
      </section>
      {search === null ? null : (
        <>
          <Hits id="releases" title="Releases that were under way" hits={search.releases} count={search.affected} />
          <Hits id="deployed" title="Pipelines that run it" hits={search.deployed} count={search.exposed} />
        </>
      )}
    </Layout>,
  );
}

/** The lines of `bugs show` without the hits, which have tables. */
function listFacts(bug: Bug, { view }: Frame): readonly string[] {
  const search = bug.search && { ...bug.search, releases: [], deployed: [] };
  return bugLines({ ...bug, search }, view)
    .filter((line) => !/^ +and \d+ more$/.test(line))
    .map((line) => line.trim());
}

interface HitsProps {
  readonly id: string;
  readonly title: string;
  readonly hits: readonly BugHit[];
  readonly count: number;
}

function Hits({ id, title, hits, count }: HitsProps) {
  return (
    <Section id={id} title={`${title}: ${count.toLocaleString('en')}`}>
      <Table
        caption={title}
        headings={['Release', 'Owners', 'Artifact', 'By']}
        rows={hits.map(({ release, owners, artifact, path }) => [
          <IdLink id={release} />,
          <bdi>{owners.join(', ')}</bdi>,
          <bdi>{artifact}</bdi>,
          <Prose text={path} />,
        ])}
        empty="None."
      />
      {count > hits.length ? <p class="note">{count - hits.length} more, which are not stored</p> : null}
    </Section>
  );
}
