import { parseId } from '../domain/ids';
import { deployFields } from '../render/deploy';
import { paint, type View } from '../render/paint';
import { withoutOwnEnd } from '../render/repeatedReasons';
import { forPeople } from '../render/times';
import { deployWord } from '../render/words';
import type { DeployStatus } from '../domain/views';
import type { Frame } from './frame';
import type { DeployModel } from './models';
import { HealthTable, Revert } from './parts/health';
import { Buttons } from './parts/buttons';
import { Layout, toDocument } from './parts/layout';
import { Phases, UnitSquares } from './parts/phases';
import { TwoColumns, Commands, Facts, Section } from './parts/section';
import { StaleNote } from './parts/stale';
import { IdLink, StateMark } from './parts/text';
import { CommandLog, Timeline } from './parts/timeline';
import { WebUi } from './release';

/** A deploy: its wait or next step, its phases with their bakes, its units, its checks and its timeline. */
export function renderDeployPage(given: DeployModel, frame: Frame): string {
  const { view } = frame;
  const { deploy, stale } = forPeople(given, view);
  const { word, sign } = deployWord(deploy);
  const id = parseId(given.deploy.id);
  return toDocument(
    <Layout
      frame={frame}
      title={deploy.id}
      heading={
        <>
          <bdi>{deploy.id}</bdi> <StateMark sign={sign} word={word} />
        </>
      }
      above={
        id?.kind === 'action' ? (
          <>
            <IdLink id={id.pipeline} /> <IdLink id={`${id.pipeline}/${id.number}`} text={`#${id.number}`} />
          </>
        ) : undefined
      }
      command={`conveyor status ${deploy.id}`}
    >
      <StaleNote problem={stale} />
      <section id="facts" aria-label="Deploy">
        <Facts fields={deployFields(deploy, view, paint(false))} above={[deploy.id, word]} />
      </section>
      <TwoColumns
        body={
          <>
            {stale === null ? <LiveParts {...{ deploy, view }} /> : null}
            {deploy.revert === null ? null : (
              <Section id="revert" title="Revert">
                <Revert deploy={deploy} view={view} />
              </Section>
            )}
          </>
        }
        side={
          <>
            <Buttons buttons={given.buttons ?? null} frame={frame} />
            <Commands id="next" title="Next" commands={deploy.next} />
            <CommandLog commands={deploy.commands} view={view} />
            <Timeline entries={withoutOwnEnd(deploy)} view={view} />
            <WebUi url={deploy.webUi} />
          </>
        }
      />
    </Layout>,
  );
}

/** The parts that only its workflow knows. */
function LiveParts({ deploy, view }: { readonly deploy: DeployStatus; readonly view: View }) {
  return (
    <>
      <Section id="phases" title="Phases">
        <Phases deploy={deploy} view={view} />
      </Section>
      <Section id="units" title="Units">
        <UnitSquares deploy={deploy} />
      </Section>
      <Section id="health" title="Health">
        <HealthTable rows={deploy.health} />
      </Section>
    </>
  );
}
