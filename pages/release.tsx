import type { Artifact } from '../domain/artifact';
import type { ChildrenView } from '../domain/views';
import { childrenWords, CHILDREN_SYMBOLS, CHILDREN_WORDS } from '../render/children';
import { nextReleaseCommands, mergeTimelines, releaseFields } from '../render/release';
import { paint } from '../render/paint';
import { forPeople } from '../render/times';
import { deployWord } from '../render/words';
import type { Frame } from './frame';
import { ActionGraph } from './graph/graph';
import type { ReleaseModel } from './models';
import { HealthTable, Revert } from './parts/health';
import { describePart, TimeBar } from './parts/bars';
import { Buttons } from './parts/buttons';
import { Layout, toDocument } from './parts/layout';
import { Phases, UnitSquares } from './parts/phases';
import { ActionTable, toDrawnActions } from './parts/releases';
import { TwoColumns, Commands, Facts, More, Section, Table } from './parts/section';
import { StaleNote } from './parts/stale';
import { IdLink, StateMark, OuterLink, Prose, RevisionLink } from './parts/text';
import { CommandLog, Timeline } from './parts/timeline';
import { splitReleaseTime } from './timeParts';
import { releaseMark } from './tones';

/** A release: its graph with durations, what each action waits for, its deploys, artifacts and timeline. */
export function renderReleasePage(given: ReleaseModel, frame: Frame): string {
  const { view } = frame;
  const { release, deploys, waits, stale } = forPeople(given, view);
  const { word, sign } = releaseMark(release);
  const props = { release, deploys, view };
  return toDocument(
    <Layout
      frame={frame}
      title={release.id}
      heading={
        <>
          <bdi>{release.id}</bdi> <StateMark sign={sign} word={word} />
        </>
      }
      above={<IdLink id={release.pipeline} />}
      command={`conveyor status ${release.id}`}
    >
      <StaleNote problem={stale} />
      <section id="facts" aria-label="Release">
        <Facts fields={releaseFields(release, deploys, view, paint(false), waits)} above={[release.id, word]} />
      </section>
      {stale === null ? (
        <Section id="graph" title="Graph">
          <ActionGraph actions={toDrawnActions(props)} label={`Graph of ${release.id}`} />
          <SpentTime {...props} />
        </Section>
      ) : null}
      <TwoColumns
        body={
          <>
            {stale === null ? (
              <Section id="actions" title="Actions">
                <ActionTable {...props} />
              </Section>
            ) : null}
            <DeploySections {...props} />
            <Children pipeline={release.pipeline} view={release.children ?? null} />
            <Section id="artifacts" title="Artifacts">
              <ArtifactTable artifacts={release.artifacts} />
            </Section>
          </>
        }
        side={
          <>
            <Buttons buttons={given.buttons ?? null} frame={frame} />
            <Commands
              id="next"
              title="Next"
              commands={stale === null ? nextReleaseCommands(release, deploys, waits) : []}
            />
            <CommandLog commands={release.commands} view={view} />
            <Timeline entries={mergeTimelines(release, deploys)} view={view} />
            <WebUi url={release.webUi} />
          </>
        }
      />
    </Layout>,
  );
}

type Props = Parameters<typeof toDrawnActions>[0];

/** Its time as one bar, and the longest parts in words. */
function SpentTime({ release, deploys, view }: Props) {
  const parts = splitReleaseTime(release, deploys, view.now);
  const longest = [...parts].sort((a, b) => b.ms - a.ms).slice(0, 6);
  return parts.length === 0 ? null : (
    <div class="spent">
      <TimeBar parts={parts} outOfMs={parts.reduce((sum, { ms }) => sum + ms, 0)} />
      <p class="note">
        <bdi>{longest.map(describePart).join(', ')}</bdi>
      </p>
    </div>
  );
}

/** Phases, checks and reverts of its deploys; those that run hide those that have ended, as in a terminal. */
function DeploySections({ deploys, view }: Props) {
  const running = deploys.filter(({ state }) => state !== 'ended');
  const shown = running.length > 0 ? running : deploys;
  return (
    <>
      {deploys.map((deploy) => {
        const { word, sign } = deployWord(deploy);
        const name = deploy.id.split('/').at(-1) ?? '';
        return (
          <Section
            id={`deploy-${name}`}
            title={`Phases of ${name}`}
            note={
              <>
                <IdLink id={deploy.id} /> <StateMark sign={sign} word={word} /> <bdi>{deploy.version}</bdi>
              </>
            }
          >
            <Phases deploy={deploy} view={view} />
            {deploy.state === 'ended' ? null : <UnitSquares deploy={deploy} />}
            {deploy.revert === null ? null : <h3>Revert</h3>}
            <Revert deploy={deploy} view={view} />
          </Section>
        );
      })}
      {shown.some(({ health }) => health.length > 0) ? (
        <Section id="health" title="Health">
          <HealthTable rows={shown.flatMap(({ health }) => health)} />
        </Section>
      ) : null}
    </>
  );
}

const MOST_FAILURES = 20;

function Children({ pipeline, view }: { readonly pipeline: string; readonly view: ChildrenView | null }) {
  if (view === null) return null;
  const { state, reason, failures } = view;
  return (
    <Section
      id="children"
      title="Children"
      note={<StateMark sign={CHILDREN_SYMBOLS[state]} word={CHILDREN_WORDS[state]} />}
    >
      <p>{childrenWords(view)}</p>
      {reason === null ? null : (
        <p>
          <Prose text={reason} />
        </p>
      )}
      <Table
        caption={`Children of ${pipeline} that did not succeed`}
        headings={['Release', 'State', 'Reason']}
        rows={failures
          .slice(0, MOST_FAILURES)
          .map((one) => [<IdLink id={one.id} />, one.state, <Prose text={one.reason} />])}
      />
      <More count={view.failed + view.cancelled - Math.min(failures.length, MOST_FAILURES)} noun="failures" />
    </Section>
  );
}

const MOST_ARTIFACTS = 40;

/** Each artifact with its commit and its digest, as far as they are known. */
function ArtifactTable({ artifacts }: { readonly artifacts: readonly Artifact[] }) {
  return (
    <Table
      caption="Artifacts"
      headings={['Artifact', 'Version', 'Digest', 'Built from', 'Made by', 'More']}
      rows={artifacts
        .slice(0, MOST_ARTIFACTS)
        .map(({ name, version, digest, uri, builtFrom, producedBy, metadata }) => [
          <bdi>{name}</bdi>,
          <bdi>{version}</bdi>,
          digest === undefined ? (
            '–'
          ) : (
            <code class="digest">
              <bdi>{digest}</bdi>
            </code>
          ),
          builtFrom === undefined ? '–' : <RevisionLink {...builtFrom} />,
          producedBy === undefined ? '–' : <bdi>{producedBy}</bdi>,
          <>
            {uri === undefined ? null : <OuterLink url={uri}>address</OuterLink>}{' '}
            <Prose
              text={Object.entries(metadata)
                .map(([key, value]) => `${key}: ${value}`)
                .join('; ')}
            />
          </>,
        ])}
      empty="It has no artifact."
    />
  );
}

/** The workflow behind a page. */
export function WebUi({ url }: { readonly url: string }) {
  return url === '' ? null : (
    <p class="note">
      <OuterLink url={url}>Its workflow in the Temporal Web UI</OuterLink>
    </p>
  );
}
