import { formatNamed } from '../domain/deploy/unavailable';
import { groupBy } from '../domain/groupBy';
import { plural } from '../domain/text';
import type { PipelineSummary } from '../domain/views';
import type { View } from '../render/paint';
import { forPeople, untilWords } from '../render/times';
import type { Frame } from './frame';
import type { PipelineFilters, PipelinesModel } from './models';
import { EndSquares } from './parts/bars';
import { FilterChoice, FilterForm, FilterText, Paging, toPageLink } from './parts/filters';
import { Layout, toDocument } from './parts/layout';
import { Section, Table } from './parts/section';
import { Clip, Command, cutAtCharacter, IdLink, StateMark, TimeAgo, Prose } from './parts/text';
import { pipelineMark } from './tones';

/** The list of pipelines, filtered. */
export function renderPipelinesPage(given: PipelinesModel, frame: Frame): string {
  const { filters, next, ...model } = given;
  const { pipelines, total, isLater } = forPeople(model, frame.view);
  const counted =
    total === null
      ? `${plural(pipelines.length, 'pipeline')} on this page`
      : `${total.toLocaleString('en')} ${total === 1 ? 'pipeline' : 'pipelines'}`;
  return toDocument(
    <Layout frame={frame} title="Pipelines" heading="Pipelines" command={toCommand(filters)}>
      <PipelineFilter filters={forPeople(filters, frame.view)} />
      <Section id="pipelines" title={counted} note="Newest start first. Changes of the last seconds may be missing.">
        <PipelineTable pipelines={pipelines} view={frame.view} />
        {pipelines.length === 0 ? <Nothing filters={filters} hasMore={next !== null || isLater} /> : null}
        <Problems pipelines={pipelines} />
        <Paging
          first={isLater ? toPageLink('/pipelines', { ...filters }) : null}
          next={next === null ? null : toPageLink('/pipelines', { ...filters, cursor: next })}
        />
      </Section>
    </Layout>,
  );
}

export function PipelineTable({
  pipelines,
  view,
}: {
  readonly pipelines: readonly PipelineSummary[];
  readonly view: View;
}) {
  return (
    <Table
      caption="Pipelines"
      headings={['Pipeline', 'State', 'Last releases', 'Running', 'Last', 'Deployed', 'Owners', 'Labels']}
      rows={pipelines.map((pipeline) => pipelineCells(pipeline, view))}
    />
  );
}

/** A row shows the beginning of a description on one line, and more under a pointer. */
const SHORT_ABOUT = 60;
const LONG_ABOUT = 120;

function pipelineCells(pipeline: PipelineSummary, view: View) {
  const { id, description, owners, labels, active, lastRelease, deployedAt, outcomes = [], problem } = pipeline;
  const { word, sign } = pipelineMark(pipeline);
  return [
    <>
      <IdLink id={id} />
      {description === '' ? null : (
        <span
          class="about"
          title={description.length > SHORT_ABOUT ? cutAtCharacter(description, LONG_ABOUT) : undefined}
        >
          <bdi>{cutAtCharacter(description, SHORT_ABOUT)}</bdi>
        </span>
      )}
    </>,
    <>
      <StateMark sign={sign} word={problem === undefined ? word : `${word}, last known`} />
      <StopNote pipeline={pipeline} view={view} />
    </>,
    <EndSquares ends={outcomes} />,
    active.length === 0
      ? '–'
      : active.slice(-4).map((number) => <IdLink id={`${id}/${number}`} text={`#${number} `} />),
    lastRelease === null ? '–' : <IdLink id={`${id}/${lastRelease}`} text={`#${lastRelease}`} />,
    deployedAt === undefined ? '–' : <TimeAgo iso={deployedAt} view={view} />,
    <Clip text={owners.join(', ')} />,
    <Clip
      text={Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(', ')}
    />,
  ];
}

/** Who stopped it, since when, and why. */
function StopNote({ pipeline, view }: { readonly pipeline: PipelineSummary; readonly view: View }) {
  const { stopped, frozenUntil } = pipeline;
  if (stopped === undefined) return null;
  return (
    <span class="about">
      <bdi>{stopped.actor}</bdi> <TimeAgo iso={stopped.at} view={view} />
      {frozenUntil === undefined ? '' : `, ${untilWords(frozenUntil, view)}`}: <Prose text={stopped.reason} />
    </span>
  );
}

/** Each problem once, with all pipelines that have it. */
function Problems({ pipelines }: { readonly pipelines: readonly PipelineSummary[] }) {
  const stuck = pipelines.flatMap(({ id, problem }) => (problem === undefined ? [] : [{ id, problem }]));
  return (
    <>
      {groupBy(stuck, ({ problem }) => problem).map(([problem, all]) => (
        <p class="warn">
          ⚠ <Prose text={`${formatNamed({ count: all.length, names: all.map(({ id }) => id) })}: ${problem}`} />
        </p>
      ))}
    </>
  );
}

const FILTER_STATES = ['active', 'held', 'frozen'];

function PipelineFilter({ filters }: { readonly filters: PipelineFilters }) {
  return (
    <FilterForm action="/pipelines" label="Filter of pipelines">
      <FilterText name="q" label="Name begins with" value={filters.q} />
      <FilterText name="owner" label="Owner" value={filters.owner} example="group:storage" />
      <FilterText name="label" label="Label" value={filters.label} example="team=storage" />
      <FilterChoice
        name="state"
        label="State"
        value={filters.state}
        choices={[['', 'any'], ...FILTER_STATES.map((state) => [state, state] as const)]}
      />
    </FilterForm>
  );
}

const isFiltered = (filters: PipelineFilters): boolean => Object.values(filters).some((value) => value !== '');

function Nothing({ filters, hasMore }: { readonly filters: PipelineFilters; readonly hasMore: boolean }) {
  if (hasMore) return <p class="empty">No pipeline on this page.</p>;
  if (isFiltered(filters))
    return (
      <p class="empty">
        No pipeline fits these filters. <a href="/pipelines">Show all</a>
      </p>
    );
  return <FirstSteps />;
}

/** The commands that make a first pipeline. */
export function FirstSteps() {
  return (
    <div class="empty">
      <p>There is no pipeline yet. These commands write a first one, apply it, and release it:</p>
      <ul class="commands">
        {['conveyor init my-service', 'conveyor apply my-service/pipeline.yaml', 'conveyor list pipelines'].map(
          (command) => (
            <li>
              <Command text={command} />
            </li>
          ),
        )}
      </ul>
    </div>
  );
}

const toCommand = ({ state }: PipelineFilters): string =>
  FILTER_STATES.includes(state) ? `conveyor list pipelines --state ${state}` : 'conveyor list pipelines';
