import type { ActionView, DeployStatus, ReleaseStatus, ReleaseSummary } from '../../domain/views';
import { attemptWords, formatActionNote } from '../../render/actions';
import { paint, type View } from '../../render/paint';
import { took } from '../../render/times';
import { ACTION_SYMBOLS, artifactWords, pauseWords, releaseWords, rerunWords, triggerWords } from '../../render/words';
import type { DrawnAction } from '../graph/graph';
import { splitReleaseTime } from '../timeParts';
import { releaseMark } from '../tones';
import { describePart, TimeBar } from './bars';
import { Table } from './section';
import { Clip, IdLink, StateMark, TimeAgo, OuterLink, Prose } from './text';

interface ReleasesProps {
  readonly caption: string;
  readonly releases: readonly ReleaseSummary[];
  /** Those of them whose actions are known. */
  readonly statuses: readonly ReleaseStatus[];
  readonly deploys: readonly DeployStatus[];
  readonly view: View;
}

/** Releases with how each spent its time; all bars have one scale. */
export function Releases({ caption, releases, statuses, deploys, view }: ReleasesProps) {
  const lengthMs = ({ startedAt, endedAt }: ReleaseSummary): number =>
    (endedAt === null ? view.now : Date.parse(endedAt)) - Date.parse(startedAt);
  const longestMs = Math.max(1, ...releases.map(lengthMs));
  return (
    <Table
      caption={caption}
      headings={['Release', 'State', 'Time', 'Took', 'Artifacts', 'Trigger', 'Started']}
      rows={releases.map((release) => {
        const status = statuses.find(({ id }) => id === release.id);
        const parts = status === undefined ? [] : splitReleaseTime(status, deploys, view.now);
        return [
          <IdLink id={release.id} text={`#${release.number}`} />,
          <ReleaseStateCell release={release} view={view} />,
          parts.length === 0 ? null : <TimeBar parts={parts} outOfMs={longestMs} />,
          <span class="number" title={parts.map(describePart).join(', ')}>
            {took(release.startedAt, release.endedAt, view)}
          </span>,
          <Clip text={artifactWords(release.artifacts)} />,
          <Prose text={triggerWords(release)} />,
          <TimeAgo iso={release.startedAt} view={view} />,
        ];
      })}
    />
  );
}

/** Its state, its pauses and its problem. */
export function ReleaseStateCell({ release, view }: { readonly release: ReleaseSummary; readonly view: View }) {
  const { id, paused, pausedDeploy, problem } = release;
  const { word, sign } = releaseMark(release);
  const rest = releaseWords(release, paint(false)).slice(`${sign.glyph} ${word}`.length);
  const pauses = [
    ...(paused === undefined ? [] : [{ ...paused, id }]),
    ...(pausedDeploy === undefined ? [] : [pausedDeploy]),
  ];
  return (
    <>
      <StateMark sign={sign} word={word} />
      <bdi>{`${rest}${rerunWords(release)}`}</bdi>
      {pauses.map((pause) => (
        <span class="about warn">
          ‖ <Prose text={`${pause.id} ${pauseWords({ paused: pause }, view)}`} />
        </span>
      ))}
      {problem === undefined ? null : (
        <span class="about warn">
          ⚠ last known: <Prose text={problem} />
        </span>
      )}
    </>
  );
}

interface ActionsProps {
  readonly release: ReleaseStatus;
  readonly deploys: readonly DeployStatus[];
  readonly view: View;
}

const findDeploy = (action: ActionView, deploys: readonly DeployStatus[]): DeployStatus | undefined =>
  deploys.find(({ id }) => id === action.deploy);

/** The actions of a release as the boxes of a graph. */
export const toDrawnActions = ({ release, deploys, view }: ActionsProps): readonly DrawnAction[] =>
  release.actions.map((action) => {
    const { name, type, needs, state, startedAt, endedAt, deploy } = action;
    const time = startedAt === null ? '' : took(startedAt, endedAt, view);
    const waits = state === 'blocked' ? formatActionNote(action, findDeploy(action, deploys), view) : '';
    const note = [type, time, waits].filter((part) => part !== '').join(' · ');
    return { ...{ name, needs, state, note, deploy }, sign: ACTION_SYMBOLS[state] };
  });

/** The same as text: each action with its time, message or wait. */
export function ActionTable({ release, deploys, view }: ActionsProps) {
  return (
    <Table
      caption={`Actions of ${release.id}`}
      headings={['Action', 'Type', 'State', 'Attempt', 'Time, message or wait']}
      ids={release.actions.map(({ name }) => `action-${name}`)}
      rows={release.actions.map((action) => [
        action.deploy === null ? <bdi>{action.name}</bdi> : <IdLink id={action.deploy} text={action.name} />,
        action.type,
        <StateMark sign={ACTION_SYMBOLS[action.state]} word={action.state} />,
        attemptWords(action),
        <>
          <Prose text={formatActionNote(action, findDeploy(action, deploys), view)} />
          {action.url ? (
            <>
              {' '}
              <OuterLink url={action.url}>{`page of ${action.name}`}</OuterLink>
            </>
          ) : null}
        </>,
      ])}
      empty="Its actions are not known."
    />
  );
}
