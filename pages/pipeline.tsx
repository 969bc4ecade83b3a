import { paint } from '../render/paint';
import { nextPipelineCommands, pipelineFields } from '../render/pipeline';
import { forPeople } from '../render/times';
import type { Frame } from './frame';
import type { PipelineModel } from './models';
import { Buttons } from './parts/buttons';
import { Layout, toDocument } from './parts/layout';
import { TwoColumns, Commands, Facts } from './parts/section';
import { StaleNote } from './parts/stale';
import { StateMark } from './parts/text';
import { CommandLog } from './parts/timeline';
import { GraphSection, ReleasesSection } from './pipeline/newest';
import { FinderTable, Waits, Windows } from './pipeline/waiting';
import { Bad, Offers, Production } from './pipeline/versions';
import { WebUi } from './release';
import { pipelineMark } from './tones';

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
