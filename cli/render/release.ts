import type { ActionView, DeployStatus, ReleaseStatus } from '../../domain/views';
import {
  fieldLines,
  healthSection,
  joinSections,
  nextSection,
  pauseWords,
  revertSection,
  timelineSection,
} from './deploy';
import { alignRows, paint, tint, type Colors, type View } from './paint';
import { phaseRows } from './phases';
import { ACTION_SIGNS, artifactWords, clock, PAUSED, RELEASE_SIGNS, took, until } from './words';

/** A release for people: its actions as a tree, with the deploys that run in it unfolded to phases and units. */
export function renderRelease(release: ReleaseStatus, deploys: readonly DeployStatus[], view: View): string {
  const colors = paint(view.color);
  const running = deploys.filter((deploy) => deploy.state !== 'ended');
  const told = running.length > 0 ? running : deploys;
  const sections = [
    header(release, deploys, view, colors),
    alignRows(release.actions.flatMap((action, at) => actionRows(action, at, release.actions, deploys, view, colors))),
    healthSection(
      told.flatMap((deploy) => deploy.health),
      view,
      colors,
    ),
    told.flatMap((deploy) => revertSection(deploy, view, colors)),
    timelineSection(merged(release, deploys), view, colors),
    nextSection(nextOf(release, deploys), release.webUi, colors),
  ];
  return joinSections(sections, view);
}

/** What to type next: what its running deploys suggest, else what fits the release itself. */
function nextOf(release: ReleaseStatus, deploys: readonly DeployStatus[]): readonly string[] {
  const suggested = deploys.filter((deploy) => deploy.state !== 'ended').flatMap((deploy) => deploy.next);
  if (suggested.length > 0) return suggested.slice(0, 4);
  const ended = ['succeeded', 'failed', 'cancelled'].includes(release.state);
  const held = release.actions.some((action) => action.state === 'blocked' && action.blockedBy?.includes('held'));
  if (held) return [`conveyor unhold ${release.pipeline} --reason "…"`, `conveyor cancel ${release.id} --reason "…"`];
  if (!ended) return [`conveyor watch ${release.id}`, `conveyor cancel ${release.id} --reason "…"`];
  const last = deploys.at(-1);
  return [...(last ? [`conveyor status ${last.id}`] : []), `conveyor history ${release.pipeline}`];
}

function header(release: ReleaseStatus, deploys: readonly DeployStatus[], view: View, colors: Colors): string[] {
  const sign = RELEASE_SIGNS[release.state];
  const cause = release.cause === null ? '' : ` (${release.cause})`;
  const pauses = deploys.filter((deploy) => deploy.paused !== null);
  const waits = deploys.filter((deploy) => deploy.state !== 'ended' && deploy.summary !== '');
  const { trigger } = release;
  const rollback = trigger.of === undefined ? '' : `, undoes release ${trigger.of}`;
  return fieldLines(
    [
      ['Release', colors.bold(release.id)],
      ['Status', tint(colors, sign.tone, `${sign.glyph} ${release.state}${cause}`)],
      ...pauses.map(
        (deploy) =>
          ['Paused', tint(colors, PAUSED.tone, `${PAUSED.glyph} ${deploy.id} ${pauseWords(deploy, view)}`)] as const,
      ),
      ...waits.map((deploy) => ['Now', deploy.summary] as const),
      ['Artifacts', artifactWords(release.artifacts)],
      ['Trigger', `${trigger.kind} by ${trigger.actor}${rollback}`],
      [
        'Time',
        `started ${clock(release.startedAt, view)}, ${release.endedAt === null ? 'running' : 'took'} ${took(release.startedAt, release.endedAt, view)}`,
      ],
    ],
    colors,
  );
}

function actionRows(
  action: ActionView,
  at: number,
  actions: readonly ActionView[],
  deploys: readonly DeployStatus[],
  view: View,
  colors: Colors,
): string[][] {
  const last = at === actions.length - 1;
  const { glyph, tone } = ACTION_SIGNS[action.state];
  const name = `${last ? '└─ ' : '├─ '}${colors.bold(action.name)}`;
  const attempt = action.attempt > 1 ? `attempt ${action.attempt}` : '';
  const row = [
    name,
    colors.dim(action.type),
    tint(colors, tone, `${glyph} ${action.state}`),
    '',
    attempt,
    actionNote(action, view),
  ];
  const deploy = deploys.find((one) => one.id === action.deploy);
  if (!deploy) return [row];
  return [row, ...phaseRows(deploy, view, last ? '   ' : '│  ')];
}

function actionNote(action: ActionView, view: View): string {
  const progress = action.progress === null ? '' : `${Math.round(action.progress * 100)}% `;
  if (action.state === 'blocked' || action.state === 'waiting') {
    const wait = action.until === null ? '' : ` (until ${clock(action.until, view)}, ${until(action.until, view)})`;
    return `${action.blockedBy ?? needsOf(action)}${wait}`;
  }
  const time = action.startedAt === null ? '' : took(action.startedAt, action.endedAt, view);
  const words = action.message ?? action.blockedBy ?? '';
  return [`${progress}${time}`, words].filter((part) => part !== '').join(' · ');
}

const needsOf = (action: ActionView): string => (action.needs.length === 0 ? '' : `after ${action.needs.join(', ')}`);

function merged(release: ReleaseStatus, deploys: readonly DeployStatus[]): ReleaseStatus['timeline'] {
  return [...release.timeline, ...deploys.flatMap((deploy) => deploy.timeline)].sort((a, b) =>
    a.at.localeCompare(b.at),
  );
}
