import { forPeople } from '../render/times';
import { configChangeTexts, commitTexts } from '../render/config';
import type { Frame } from './frame';
import type { ConfigModel, ConfigRepositoryModel } from './models';
import { FilterForm, FilterText, toPageLink } from './parts/filters';
import { Layout, toDocument } from './parts/layout';
import { Listing, Notes } from './parts/listing';
import { Section, Table } from './parts/section';
import { ClockTime, Command } from './parts/text';

/** The repositories of configuration. */
export function renderConfigPage(given: ConfigModel, frame: Frame): string {
  const { repositories } = forPeople(given, frame.view);
  return toDocument(
    <Layout frame={frame} title="Configuration" heading="Configuration" command="conveyor config status">
      <Section id="repositories" title="Repositories">
        <Table
          caption="Repositories of configuration"
          headings={['Repository', 'Branch']}
          rows={repositories.map(({ name, branch }) => [
            <a href={`/config/${name}`} class="id">
              <bdi>{name}</bdi>
            </a>,
            <bdi>{branch}</bdi>,
          ])}
          empty={<NoRepository />}
        />
      </Section>
    </Layout>,
  );
}

export function NoRepository() {
  return (
    <>
      This server knows no repository of configuration. Add one under <code>config.repositories</code> of
      conveyor.config.yaml. Then <Command text="conveyor config propose FOLDER -m MESSAGE" /> proposes the first change.
    </>
  );
}

/** A repository: its changes, the commits that have landed, and its sources. */
export function renderConfigRepositoryPage(given: ConfigRepositoryModel, frame: Frame): string {
  const { view } = frame;
  const model = forPeople(given, view);
  const { repository, branch, changes, log, limit } = model;
  return toDocument(
    <Layout
      frame={frame}
      title={repository}
      heading={<bdi>{repository}</bdi>}
      above={<a href="/config">Configuration</a>}
      command={`conveyor config status --repository ${repository}`}
    >
      <Section
        id="changes"
        title="Changes"
        note={
          <>
            Newest first, {limit} at most; <a href={toPageLink(`/config/${repository}`, { limit: 500 })}>show 500</a>
          </>
        }
      >
        <Notes lines={model.releasesProblem === null ? [] : [`⚠ ${model.releasesProblem}`]} />
        <Listing
          caption={`Changes of ${repository}`}
          texts={configChangeTexts(changes, view)}
          cells={{ AT: (nth) => <ClockTime iso={changes[nth]?.at ?? ''} view={view} /> }}
          empty={
            <>
              No change has been proposed yet. <Command text="conveyor config propose FOLDER -m MESSAGE" />
            </>
          }
        />
      </Section>
      <Section
        id="log"
        title="Landed"
        note={
          <>
            Commits of the branch <bdi>{branch}</bdi>, newest first.
          </>
        }
      >
        <Listing
          caption={`Landed commits of ${repository}`}
          texts={commitTexts(log, view)}
          cells={{ AT: (nth) => <ClockTime iso={log[nth]?.at ?? ''} view={view} /> }}
        />
      </Section>
      <SourceSection model={model} />
    </Layout>,
  );
}

function SourceSection({ model }: { readonly model: ConfigRepositoryModel }) {
  const { repository, q, sources, totalSources } = model;
  return (
    <Section id="sources" title={`Sources: ${totalSources.toLocaleString('en')}`}>
      <FilterForm action={`/config/${repository}`} label="Filter of sources">
        <FilterText name="q" label="Path begins with" value={q} example="feed/" />
      </FilterForm>
      {sources.length === 0 ? <p class="empty">No source fits.</p> : null}
      <ul>
        {sources.map((path) => (
          <li>
            <a href={toPageLink(`/config/${repository}/value`, { path })}>
              <bdi>{path}</bdi>
            </a>
          </li>
        ))}
      </ul>
      {totalSources > sources.length ? (
        <p class="note">{totalSources - sources.length} more; type the beginning of a path to find them</p>
      ) : null}
      <FilterForm action={`/config/${repository}/value`} label="Show a value" button="Show">
        <FilterText name="path" label="Path of a value or source" value="" example="feed/limits" />
      </FilterForm>
    </Section>
  );
}
