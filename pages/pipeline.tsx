import { releaseId } from '../domain/ids';
import { dependencies } from '../domain/release/graph';
import type { PipelineSpec } from '../domain/spec/pipeline';
import type { PipelineStatus } from '../domain/views';
import { describeFinder, FINDER_SYMBOLS } from '../render/finders';
import { listWaysOut, offerStateText } from '../render/offers';
import { describeOffer } from '../domain/offers/judge';
import { paint, type View } from '../render/paint';
import {
  describeBehind,
  describeWait,
  getRunningVersion,
  goodWords,
  groupWords,
  isGroupBusy,
  nextPipelineCommands,
  pipelineFields,
  usersText,
} from '../render/pipeline';
import { blackoutWords, windowWords } from '../render/plan';
import { forPeople } from '../render/times';
import { ACTION_SYMBOLS } from '../render/words';
import type { Frame } from './frame';
import { ActionGraph, type DrawnAction } from './graph/graph';
import type { PipelineModel } from './models';
import { Buttons } from './parts/buttons';
import { Layout, toDocument } from './parts/layout';
import { Releases, toDrawnActions } from './parts/releases';
import { TwoColumns, Commands, Facts, More, Section, Table } from './parts/section';
import { StaleNote } from './parts/stale';
import { ClockTime, Command, IdLink, StateMark, TimeAgo, Prose } from './parts/text';
import { CommandLog } from './parts/timeline';
import { WebUi } from './release';
import { pipelineMark } from './tones';

const MOST_ROWS = 20;

/** A pipeline: its graph with the newest release in it, its releases, and all that waits, holds or is bad. */
export function renderPipelinePage(given: PipelineModel, frame: Frame): string {
  const { view } = frame;
  const model = forPeople(given, view);
  const { pipeline, stale } = model;
  const { word, sign } = pipelineMark({ state: pipeline.state, ...(pipeline.retired ? { ended: true } : {}) });
  return toDocument(
    <Layout
      frame={frame}
      title={pipeline.id}
      heading={
        <>
          <bdi>{pipeline.id}</bdi> <StateMark sign={sign} word={word} />
        </>
      }
      above={<a href="/pipelines">Pipelines</a>}
      command={`conveyor status ${pipeline.id}`}
    >
      <StaleNote problem={stale} />
      <section id="facts" aria-label="Pipeline">
        <Facts fields={pipelineFields(pipeline, view, paint(false))} above={[pipeline.id, word]} />
      </section>
      <GraphSection model={model} view={view} />
      <ReleasesSection model={model} view={view} />
      <TwoColumns
        body={
          <>
            <Waits pipeline={pipeline} view={view} />
            <Production pipeline={pipeline} />
            <Offers pipeline={pipeline} view={view} />
            <Bad pipeline={pipeline} view={view} />
            <FinderTable pipeline={pipeline} view={view} />
            <Windows spec={model.spec} />
          </>
        }
        side={
          <>
            <Buttons buttons={given.buttons ?? null} frame={frame} />
            <Commands id="next" title="Next" commands={stale === null ? nextPipelineCommands(pipeline) : []} />
            <CommandLog commands={pipeline.commands} view={view} />
            <WebUi url={pipeline.webUi} />
          </>
        }
      />
    </Layout>,
  );
}

interface ModelProps {
  readonly model: PipelineModel;
  readonly view: View;
}

function GraphSection({ model, view }: ModelProps) {
  const { newest, deploys, spec, pipeline, stale } = model;
  const number = Math.max(0, ...pipeline.releases.map((release) => release.number));
  const release = newest.find((one) => one.number === number);
  if (stale !== null || (number === 0 && spec === null)) return null;
  if (number > 0 && release === undefined)
    return (
      <Section id="graph" title="Graph">
        <p class="empty">
          <IdLink id={releaseId(pipeline.id, number)} /> did not answer in time; reload the page to see its graph.
        </p>
      </Section>
    );
  const note =
    release === undefined ? (
      'No release has begun.'
    ) : (
      <>
        With the newest release, <IdLink id={release.id} />
      </>
    );
  const actions = release === undefined ? drawSpec(spec) : toDrawnActions({ release, deploys, view });
  return (
    <Section id="graph" title="Graph" note={note}>
      <ActionGraph actions={actions} label={`Graph of ${release?.id ?? pipeline.id}`} />
    </Section>
  );
}

/** The actions of a file that no release has run. */
function drawSpec(spec: PipelineSpec | null): readonly DrawnAction[] {
  const needs = dependencies(spec?.actions ?? {});
  return Object.entries(spec?.actions ?? {}).map(([name, { type }]) => ({
    ...{ name, needs: needs.get(name) ?? [], state: 'not yet', note: type, deploy: null },
    sign: ACTION_SYMBOLS.waiting,
  }));
}

function ReleasesSection({ model, view }: ModelProps) {
  const { pipeline, newest, deploys } = model;
  const sorted = [...pipeline.releases].sort((a, b) => b.number - a.number);
  const shown = sorted.slice(0, MOST_ROWS);
  return (
    <Section id="releases" title="Releases">
      {shown.length === 0 ? (
        <p class="empty">
          No release yet. <Command text={`conveyor release ${pipeline.id} --artifact NAME=VERSION --wait`} />
        </p>
      ) : (
        <ul class="legend">
          {['build', 'test', 'deploy', 'update', 'bake', 'revert', 'other', 'wait'].map((kind) => (
            <li>
              <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
                <rect class={`part-${kind}`} width="10" height="10" />
              </svg>{' '}
              {kind}
            </li>
          ))}
        </ul>
      )}
      <Releases caption={`Releases of ${pipeline.id}`} releases={shown} statuses={newest} {...{ deploys, view }} />
      <More count={sorted.length - shown.length} noun="releases" />
      <p class="note">
        Earlier ones: <Command text={`conveyor history ${pipeline.id}`} />
      </p>
    </Section>
  );
}

interface StatusProps {
  readonly pipeline: PipelineStatus;
  readonly view: View;
}

/** The queue, and the exclusion groups that are held. */
function Waits({ pipeline, view }: StatusProps) {
  const { waits = [], groups = [] } = pipeline;
  const busy = groups.filter(isGroupBusy);
  if (waits.length + busy.length === 0) return null;
  return (
    <Section id="waiting" title="Waiting">
      <Table
        caption="Releases and actions that wait"
        headings={['Release', 'Waits']}
        rows={waits.slice(0, MOST_ROWS).map((wait) => {
          const { id, words } = describeWait(pipeline, wait, view);
          return [<IdLink id={id} />, <Prose text={words} />];
        })}
      />
      <More count={waits.length - MOST_ROWS} noun="waits" />
      <Table
        caption="Exclusion groups"
        headings={['Exclusion', 'Scope', 'Holder', 'Queue']}
        rows={busy.map((group) => [<bdi>{group.name}</bdi>, ...groupWords(group)])}
      />
    </Section>
  );
}

/** The versions in production, and the units that are not on them. */
function Production({ pipeline }: Pick<StatusProps, 'pipeline'>) {
  const { behind = [] } = pipeline;
  const good = Object.entries(pipeline.lastGood);
  return (
    <Section id="production" title="In production">
      <Table
        caption="Versions in production"
        headings={['Action', 'Version', 'Since']}
        rows={good.map(([action, last]) => [
          <bdi>{action}</bdi>,
          <bdi>{getRunningVersion(last)}</bdi>,
          <Prose text={goodWords(last)} />,
        ])}
        empty="Nothing has been deployed yet."
      />
      <Table
        caption="Units left behind"
        headings={['Left behind', 'State', 'Why', 'Command']}
        rows={behind.slice(0, MOST_ROWS).map((one) => {
          const { units, state, why } = describeBehind(one);
          return [<bdi>{units}</bdi>, <bdi>{state}</bdi>, why, <Command text={one.bring} />];
        })}
      />
    </Section>
  );
}

const MOST_USERS = 10;

/** Its offers to others, and the broken offers of others that it uses. */
function Offers({ pipeline, view }: StatusProps) {
  const { id, offers = [], brokenUses = [] } = pipeline;
  if (offers.length + brokenUses.length === 0) return null;
  return (
    <Section id="offers" title="Offers and wishes">
      <Table
        caption={`Offers of ${id}`}
        headings={['Offer', 'State', 'Users']}
        rows={offers.map((offer) => [
          <bdi>{describeOffer(offer)}</bdi>,
          offerStateText(offer, view, paint(false)),
          <Prose text={usersText(offer, MOST_USERS)} />,
        ])}
      />
      {listWaysOut(id, offers).map((way) => (
        <p>
          <Prose text={way} />
        </p>
      ))}
      {brokenUses.map(({ why }) => (
        <p class="bad">
          ✖ At risk: <Prose text={why} />
        </p>
      ))}
    </Section>
  );
}

function Bad({ pipeline, view }: StatusProps) {
  const { knownBad, late = [] } = pipeline;
  if (knownBad.length + late.length === 0) return null;
  return (
    <Section id="bad" title="Known bad">
      <Table
        caption="Artifacts that are never deployed again until a person allows them"
        headings={['Artifact', 'Since', 'Reason', 'Command']}
        rows={knownBad.slice(0, MOST_ROWS).map(({ artifact, at, reason }) => [
          <span class="bad">
            ✖ <bdi>{artifact}</bdi>
          </span>,
          <ClockTime iso={at} view={view} />,
          <Prose text={reason} />,
          <Command text={`conveyor allow-artifact ${pipeline.id} ${artifact.replace(/#.*$/, '')} --reason "…"`} />,
        ])}
      />
      <More count={knownBad.length - MOST_ROWS} noun="artifacts" />
      <Table
        caption="Artifacts that arrived after a newer one, and started no release"
        headings={['Late artifact', 'Arrived', 'Behind']}
        rows={late
          .slice(0, MOST_ROWS)
          .map(({ artifact, at, behind }) => [
            <bdi>{artifact}</bdi>,
            <TimeAgo iso={at} view={view} />,
            <bdi>{behind}</bdi>,
          ])}
      />
    </Section>
  );
}

/** The finders of its inputs: one that is down explains why nothing new arrives. */
function FinderTable({ pipeline, view }: StatusProps) {
  const { finders = [] } = pipeline;
  return finders.length === 0 ? null : (
    <Section id="finders" title="Finders">
      <Table
        caption="Finders of its inputs"
        headings={['Finder', 'State', 'Last answer']}
        rows={finders.map((finder) => [
          <bdi>{finder.id}</bdi>,
          <StateMark sign={FINDER_SYMBOLS[finder.state]} word={finder.state} />,
          <Prose text={describeFinder(finder, view)} />,
        ])}
      />
    </Section>
  );
}

/** When its actions may begin, as its file has it; each in the zone of its window. */
function Windows({ spec }: { readonly spec: PipelineSpec | null }) {
  const rows = Object.entries(spec?.actions ?? {}).flatMap(([name, { window = [], blackouts = [] }]) =>
    [...windowWords({ windows: [window].flat() }), ...blackoutWords({ blackouts })].map((words) => ({ name, words })),
  );
  return rows.length === 0 ? null : (
    <Section id="windows" title="Windows">
      <Table
        caption="Windows and blackouts"
        headings={['Action', 'When']}
        rows={rows.slice(0, MOST_ROWS * 2).map(({ name, words }) => [<bdi>{name}</bdi>, <Prose text={words} />])}
      />
    </Section>
  );
}
