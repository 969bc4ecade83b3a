import { plural } from '../domain/text';
import type { ActionView } from '../domain/views';
import { formatActionNote } from '../render/actions';
import type { View } from '../render/paint';
import { forPeople } from '../render/times';
import { artifactWords } from '../render/words';
import type { Frame } from './frame';
import type { HomeModel, ListedRelease } from './models';
import { Layout, toDocument } from './parts/layout';
import { ReleaseStateCell } from './parts/releases';
import { More, Section, Table } from './parts/section';
import { Clip, IdLink, TimeAgo, Prose } from './parts/text';
import { FirstSteps, PipelineTable } from './pipelines';
import { waitsForPerson } from './waits';

/** The rest has lists of its own, and a page stays under 100 kB. */
const [MOST_PIPELINES, MOST_RELEASES] = [10, 25];

/** Everything under way: first what waits for a person, then the rest, then what is stopped or has failed. */
export function renderHomePage(given: HomeModel, frame: Frame): string {
  const { view } = frame;
  const model = forPeople(given, view);
  const own = new Set(model.forViewer?.releases.map(({ release }) => release.id));
  const rest = model.underWay.filter(({ release }) => !own.has(release.id));
  const waiting = rest.filter(waitsForPerson);
  const others = rest.filter((row) => !waitsForPerson(row));
  return toDocument(
    <Layout frame={frame} title="Now" heading="Now" command="conveyor list releases --state running">
      {model.isEmpty ? <FirstSteps /> : null}
      {model.forViewer === null ? null : (
        <Section id="for-you" title="For you">
          <ReleaseRows
            rows={model.forViewer.releases}
            view={view}
            {...(model.forViewer.pipelines.length === 0 ? { empty: 'Nothing waits for you.' } : {})}
          />
          {model.forViewer.pipelines.length === 0 ? null : (
            <>
              <PipelineTable pipelines={model.forViewer.pipelines.slice(0, MOST_PIPELINES)} view={view} />
              <More count={model.forViewer.pipelines.length - MOST_PIPELINES} noun="pipelines" />
            </>
          )}
        </Section>
      )}
      {waiting.length === 0 ? null : (
        <Section
          id="waiting"
          title={`${plural(waiting.length, 'release')} ${waiting.length === 1 ? 'waits' : 'wait'} for a person`}
        >
          <ReleaseRows rows={waiting} view={view} />
        </Section>
      )}
      {model.isEmpty ? null : (
        <Section id="under-way" title="Under way">
          <ReleaseRows rows={others} view={view} empty="No other release is under way." />
        </Section>
      )}
      {model.stopped.length === 0 ? null : (
        <Section id="stopped" title="Held or frozen">
          <PipelineTable pipelines={model.stopped.slice(0, MOST_PIPELINES)} view={view} />
          {model.stopped.length <= MOST_PIPELINES ? null : (
            <p class="note">
              {model.stopped.length - MOST_PIPELINES} more: <a href="/pipelines?state=held">all that are held</a>,{' '}
              <a href="/pipelines?state=frozen">all that are frozen</a>
            </p>
          )}
        </Section>
      )}
      {model.isEmpty ? null : (
        <Section id="failed" title="Failed in the last 24 hours">
          <ReleaseRows rows={model.failed} view={view} empty="No release has failed." />
        </Section>
      )}
    </Layout>,
  );
}

interface RowsProps {
  readonly rows: readonly ListedRelease[];
  readonly view: View;
  readonly empty?: string;
}

function ReleaseRows({ rows, view, empty }: RowsProps) {
  return (
    <>
      <Table
        caption="Releases"
        headings={['Release', 'State', 'Artifacts', 'Started', 'Now']}
        rows={rows.slice(0, MOST_RELEASES).map(({ release, status }) => [
          <IdLink id={release.id} />,
          <ReleaseStateCell release={release} view={view} />,
          <Clip text={artifactWords(release.artifacts)} />,
          <TimeAgo iso={release.startedAt} view={view} />,
          (status?.actions ?? [])
            .filter(isWorthShowing)
            .slice(0, MOST_ACTIONS)
            .map((action) => <Doing action={action} view={view} />),
        ])}
        {...(empty === undefined ? {} : { empty })}
      />
      <More count={rows.length - MOST_RELEASES} noun="releases" />
    </>
  );
}

const MOST_ACTIONS = 4;

/** Actions at work, in a wait, or failed. */
const isWorthShowing = ({ state }: ActionView): boolean => ['running', 'blocked', 'failed'].includes(state);

function Doing({ action, view }: { readonly action: ActionView; readonly view: View }) {
  const { name, state, deploy } = action;
  return (
    <span class="line">
      {deploy === null ? <bdi>{name}</bdi> : <IdLink id={deploy} text={name} />} {state}:{' '}
      <Prose text={formatActionNote(action, undefined, view)} />
    </span>
  );
}
