import { offersRerun } from '../domain/release/rerun';
import { describeOffer, isOfferWait } from '../domain/offers/judge';
import { withReason } from '../domain/text';
import type { ActionView, DeployStatus, PageView, Pause, ReleaseStatus, WaitView } from '../domain/views';
import {
  fieldLines,
  type Fields,
  healthSection,
  joinSections,
  nextSection,
  revertSection,
  timelineSection,
} from './deploy';
import { alignRows } from './columns';
import { paint, tint, type Colors, type View } from './paint';
import { actionRows, linksSection } from './actions';
import { childrenSection } from './children';
import { summaryWords } from './phases';
import {
  findGivenReasons,
  listRepeatedReasons,
  withoutDeployEnds,
  withoutReason,
  withoutReasons,
} from './repeatedReasons';
import { ago, clock, took, until, untilWords } from './times';
import {
  artifactWords,
  dependencyWords,
  describeLockHolder,
  PAUSED_SYMBOL,
  releaseWords,
  triggerWords,
  undoneLine,
  pauseWords,
} from './words';

/**
 * A release for people: its actions as a tree, with its running deploys unfolded to phases and units; its children.
 * @param waits the reasons for its wait, from its pipeline
 */
export function renderRelease(
  release: ReleaseStatus,
  deploys: readonly DeployStatus[],
  view: View,
  waits: readonly WaitView[] = [],
): string {
  const colors = paint(view.color);
  const running = deploys.filter((deploy) => deploy.state !== 'ended');
  const shownDeploys = running.length > 0 ? running : deploys;
  const given = reasonsAbove(release, deploys);
  const sections = [
    fieldLines(releaseFields(release, deploys, view, colors, waits), colors),
    alignRows(release.actions.flatMap((action, at) => actionRows(action, at, release.actions, deploys, view, colors))),
    linksSection(release.actions, colors),
    childrenSection(release.children ?? null, view, colors),
    healthSection(
      shownDeploys.flatMap((deploy) => deploy.health),
      view,
      colors,
      given,
    ),
    shownDeploys.flatMap((deploy) => revertSection(deploy, view, colors, given)),
    timelineSection(withoutReasons(mergeTimelines(release, deploys), given), view, colors),
    nextSection(nextReleaseCommands(release, deploys, waits), release.webUi, colors),
  ];
  return joinSections(sections, view);
}

/** The reasons of its deploys that its header or tree already gives. */
function reasonsAbove({ actions }: ReleaseStatus, deploys: readonly DeployStatus[]): readonly string[] {
  const running = deploys.filter(({ state }) => state !== 'ended');
  const inHeader = running.flatMap(({ summary, paused }) => [summary, paused?.reason ?? '']);
  const inTree = actions.map(({ message }) => message ?? '');
  return findGivenReasons(deploys.flatMap(listRepeatedReasons), [...inHeader, ...inTree]);
}

/** The next commands to type: those of its running deploys, else those of the release itself. */
export function nextReleaseCommands(
  release: ReleaseStatus,
  deploys: readonly DeployStatus[],
  waits: readonly WaitView[] = [],
): readonly string[] {
  const reason = '--reason "…"';
  const ended = ['succeeded', 'failed', 'cancelled'].includes(release.state);
  if (ended) {
    const last = deploys.at(-1);
    const failures = (release.children?.failures ?? []).slice(0, 1).map(({ id }) => `conveyor status ${id}`);
    return [
      ...listLogCommands(release),
      ...again(release, deploys),
      ...failures,
      ...(last ? [`conveyor status ${last.id}`] : []),
      `conveyor history ${release.pipeline}`,
    ];
  }
  const picks = release.actions
    .filter(({ pickBy, endedAt }) => pickBy !== null && endedAt === null)
    .map(({ name }) => `conveyor pick ${release.id}/${name} --approve ${reason}`);
  const suggested = deploys.filter((deploy) => deploy.state !== 'ended').flatMap((deploy) => deploy.next);
  const retries = release.actions
    .filter(({ state }) => state === 'failed')
    .map(({ name }) => `conveyor retry ${release.id}/${name} ${reason}`);
  const resume = release.state === 'paused' ? [`conveyor resume ${release.id} ${reason}`] : [];
  const holders = release.actions.flatMap(({ heldBy }) => (heldBy ? [`conveyor status ${heldBy.id}`] : []));
  const peers = release.actions.flatMap(({ state, wishes = [] }) =>
    state === 'blocked'
      ? wishes.filter((wish) => wish.state === 'waiting').map(({ from }) => `conveyor status ${from}`)
      : [],
  );
  const waitsForUsers = release.actions.some(({ state, unfit }) => state === 'blocked' && unfit);
  const users = waitsForUsers ? [`conveyor offers show ${release.pipeline}`] : [];
  const asked = new Set([
    ...resume,
    ...picks,
    ...holders,
    ...peers,
    ...users,
    ...suggested,
    ...listLogCommands(release),
    ...retries,
  ]);
  if (asked.size > 0) return [...asked].slice(0, 4);
  const blocked = release.actions.flatMap(({ state, blockedBy }) => (state === 'blocked' ? (blockedBy ?? []) : []));
  const obstacles = [...waits.map(({ why }) => why), ...blocked];
  const isBlockedBy = (word: string): boolean => obstacles.some((why) => why.includes(`pipeline is ${word}`));
  const cancel = `conveyor cancel ${release.id} ${reason}`;
  if (isBlockedBy('frozen')) return [`conveyor unfreeze ${release.pipeline} ${reason}`, cancel];
  if (isBlockedBy('held')) return [`conveyor unhold ${release.pipeline} ${reason}`, cancel];
  return [...listAllowCommands(release), `conveyor watch ${release.id}`, cancel];
}

/** The end of the output of a failed script, which usually explains the failure. */
const listLogCommands = ({ id, actions }: ReleaseStatus): string[] =>
  actions
    .filter(({ type, state }) => type === 'custom-script' && state === 'failed')
    .slice(0, 1)
    .map(({ name }) => `conveyor logs ${id}/${name}`);

/** The commands for another try: allow a bad artifact first, or else rerun the failed actions. */
function again(release: ReleaseStatus, deploys: readonly DeployStatus[]): string[] {
  const reverted = deploys.some(({ outcome }) => outcome === 'reverted');
  const bad = listAllowCommands(release);
  if (bad.length > 0) return bad;
  return offersRerun(release, reverted) ? [`conveyor rerun ${release.id} --reason "…"`] : [];
}

/** Commands to allow artifacts that are not deployed until then. */
const listAllowCommands = ({ pipeline, actions }: ReleaseStatus): string[] =>
  [...new Set(actions.flatMap(({ knownBad = [] }) => knownBad))].map(
    (artifact) => `conveyor allow-artifact ${pipeline} ${artifact.replace(/#.*$/, '')} --reason "…"`,
  );

/** A release in sentences: its state, its pauses and waits, its artifacts, its cause and its time. */
export function releaseFields(
  release: ReleaseStatus,
  deploys: readonly DeployStatus[],
  view: View,
  colors: Colors,
  releaseWaits: readonly WaitView[] = [],
): Fields {
  const pauses = deploys.filter((deploy) => deploy.paused !== null);
  const waits = deploys.filter((deploy) => deploy.state !== 'ended' && deploy.summary !== '' && !deploy.paused?.now);
  return [
    ['Release', colors.bold(release.id)],
    ['Status', releaseWords(release, colors)],
    undoneLine(release, view),
    ...[
      ...formatReleasePause(release, view),
      ...pauses.map((deploy) => `${deploy.id} ${pauseWords(deploy, view)}`),
    ].map((words) => ['Paused', tint(colors, PAUSED_SYMBOL.tone, `${PAUSED_SYMBOL.glyph} ${words}`)] as const),
    ...pauses.flatMap(({ id, paused }) => nowLine(id, paused, view)),
    ...waits.map((deploy) => ['Now', `${nowWords(deploy, view)}${holderText(deploy, view)}`] as const),
    ...releaseWaits.map((wait) => ['Waits', waitWords(wait, view)] as const),
    ...release.actions.flatMap((action) => formatBlockedLine(action, view)),
    ...release.actions.flatMap(badLine),
    ...release.actions.flatMap(usesLine),
    ...(release.brokenUses ?? []).map(({ why }) => ['At risk', tint(colors, 'bad', why)] as const),
    ...release.actions.flatMap((action) => overrideLine(action, view)),
    ...(release.pages ?? []).flatMap((page) => pageLine(page, view)),
    ['Artifacts', artifactWords(release.artifacts)],
    ['Trigger', triggerWords(release)],
    [
      'Time',
      `started ${clock(release.startedAt, view)}, ${release.endedAt === null ? 'running' : 'took'} ${took(release.startedAt, release.endedAt, view)}`,
    ],
  ];
}

/** The summary of a deploy, with the rest of its wait; the reason for its pause is shown above. */
function nowWords(deploy: DeployStatus, view: View): string {
  const { paused, until: iso = null } = deploy;
  if (paused !== null) return withoutReason(summaryWords(deploy, view), [paused.reason]);
  return `${summaryWords(deploy, view)}${iso === null ? '' : `, ${until(iso, view)}`}`;
}

/** The present state of the dependency for which one of its deploys is paused. */
function nowLine(id: string, paused: Pause | null, view: View): (readonly [string, string])[] {
  const words = paused === null ? '' : dependencyWords(paused, view);
  return words === '' ? [] : [['Now', `${id}: ${words}`]];
}

/** The principal who paused the release itself, the time and the reason. */
function formatReleasePause({ id, state, commands }: ReleaseStatus, view: View): string[] {
  const pause = commands.filter(({ verb, accepted }) => verb === 'pause' && accepted).at(-1);
  if (state !== 'paused' || pause === undefined) return [];
  return [`${id} ${withReason(`by ${pause.actor} ${ago(pause.at, view)}`, pause.reason)}`];
}

const holderText = (waits: Pick<ActionView, 'heldBy'>, view: View): string =>
  describeLockHolder(waits, (iso) => clock(iso, view));

/**
 * A wait with a known end or holder, or for several people, has its own line: in the tree, a narrow screen would cut it
 * first.
 */
function formatBlockedLine(action: ActionView, view: View): (readonly [string, string])[] {
  const { name, state, blockedBy, until, pickBy, approval, heldBy } = action;
  if (state === 'blocked' && heldBy) return [['Waits', `${name}: ${blockedBy ?? ''}${holderText(action, view)}`]];
  const isWish = blockedBy !== null && isOfferWait(blockedBy);
  if (state !== 'blocked' || (until === null && !approval && !isWish)) return [];
  const why = pickBy === null || approval ? blockedBy : 'for a person';
  const when = until === null ? '' : `, ${untilWords(until, view)}`;
  return [['Waits', `${name}${when}: ${why ?? ''}`]];
}

/** Shown as soon as it is known, while actions before the deploy still run. */
const badLine = ({ name, type, knownBad = [] }: ActionView): (readonly [string, string])[] =>
  knownBad.length === 0 || type === 'deploy'
    ? []
    : [['Known bad', `${knownBad.join(', ')}, made by ${name}: not deployed until a person allows it`]];

/** The offers of other pipelines that a deploy uses. */
function usesLine({ name, wishes = [] }: ActionView): (readonly [string, string])[] {
  const used = wishes.filter(({ seq }) => seq !== null);
  const words = used.map(({ from, offer, version }) => `${describeOffer({ name: offer, version })} of ${from}`);
  return used.length === 0 ? [] : [['Uses', `${name}: ${words.join(', ')}`]];
}

/** The person who let a deploy begin although its offers do not fit their users. */
function overrideLine({ name, override }: ActionView, view: View): (readonly [string, string])[] {
  if (!override) return [];
  const by = `${name} does not wait for users of its offers, by ${override.actor} ${ago(override.at, view)}`;
  return [['Override', withReason(by, override.reason)]];
}

/** Whether the person on call has been paged about a deploy, and has answered. A page that ended before it was due is no news. */
function pageLine(page: PageView, view: View): (readonly [string, string])[] {
  const { deploy, kind, state, dueAt, to, note, answeredBy, answeredAt } = page;
  const answered = answeredBy === null ? [] : [`${answeredBy} answered ${ago(answeredAt ?? dueAt, view)}`];
  const sent = to === null ? (state === 'failed' ? ['no person was paged'] : []) : [`${to} was paged`];
  const waits = state === 'due' ? [`a person is paged at ${clock(dueAt, view)} unless a person acts`] : [];
  const steps = [...sent, ...(answered.length > 0 ? answered : waits)];
  if (steps.length === 0) return [];
  const what = `${deploy} ${kind === 'paused' ? 'paused' : 'was reverted'} by itself`;
  return [['On call', withReason(`${what}; ${steps.join(', and ')}`, note ?? '')]];
}

const waitWords = ({ why, until }: WaitView, view: View): string =>
  until === null ? why : `${why} (${untilWords(until, view)})`;

/** Both in order, without the ends of deploys that the release repeats. */
export function mergeTimelines(release: ReleaseStatus, deploys: readonly DeployStatus[]): ReleaseStatus['timeline'] {
  return [...withoutDeployEnds(release, deploys), ...deploys.flatMap((deploy) => deploy.timeline)].sort((a, b) =>
    a.at.localeCompare(b.at),
  );
}
