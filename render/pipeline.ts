import { formatNamed } from '../domain/deploy/unavailable';
import { continuesByItself } from '../domain/deploy/view';
import { deployId, releaseId } from '../domain/ids';
import { describeOffer } from '../domain/offers/judge';
import type {
  BehindView,
  GoodView,
  GroupView,
  OfferView,
  PipelineStatus,
  ReleaseSummary,
  ScheduleView,
  WaitView,
} from '../domain/views';
import { fieldLines, type Fields, joinSections, nextSection } from './deploy';
import { finderRows } from './finders';
import { listWaysOut, offerStateText, userMark } from './offers';
import { releaseTable } from './lists';
import { alignRows } from './columns';
import { withoutReason } from './repeatedReasons';
import { paint, tint, wrap, type Colors, type View } from './paint';
import { ago, clock, untilWords } from './times';
import { artifactWords, PAUSED_SYMBOL } from './words';

/** A pipeline for people: whether and when deploys may start, its waits, good and bad versions, and last releases. */
export function renderPipeline(pipeline: PipelineStatus, view: View): string {
  const colors = paint(view.color);
  const newestFirst = [...pipeline.releases].sort((a, b) => b.number - a.number);
  const sections = [
    fieldLines(pipelineFields(pipeline, view, colors), colors),
    waitsSection(pipeline, view, colors),
    findersSection(pipeline, view, colors),
    offersSection(pipeline, view, colors),
    usesSection(pipeline, view, colors),
    groupsSection(pipeline, colors),
    goodSection(pipeline, colors),
    behindSection(pipeline, colors),
    badSection(pipeline, view, colors),
    releaseTable(newestFirst.slice(0, view.compact ? 5 : 15), view).split('\n'),
    [...nextSection(nextPipelineCommands(pipeline), pipeline.webUi, colors), ...listLine(pipeline, colors)],
  ];
  return joinSections(sections, view);
}

/** A pipeline in sentences: its state, who stopped it, its schedule, owners and inputs. */
export function pipelineFields(pipeline: PipelineStatus, view: View, colors: Colors): Fields {
  const { held, frozen = null, schedule, inputs = [] } = pipeline;
  const labels = Object.entries(pipeline.labels).map(([key, value]) => `${key}=${value}`);
  const by = (one: NonNullable<typeof held>): string => `by ${one.actor} ${ago(one.at, view)}: ${one.reason}`;
  return [
    ['Pipeline', colors.bold(pipeline.id)],
    pipeline.description === '' ? null : ['About', pipeline.description],
    ['Status', pipelineStatusText(pipeline, colors)],
    frozen === null
      ? null
      : ['Frozen', `${by(frozen)}${frozen.until === undefined ? '' : ` (${untilWords(frozen.until, view)})`}`],
    held === null ? null : ['Held', by(held)],
    pipeline.retired === undefined ? null : ['Retired', `${by(pipeline.retired)}; conveyor apply brings it back`],
    schedule === undefined || schedule.mode === 'continuous' ? null : ['Schedule', scheduleWords(schedule, view)],
    ['Owners', pipeline.owners.join(', ')],
    labels.length === 0 ? null : ['Labels', labels.join(', ')],
    inputs.length === 0 ? null : ['Inputs', artifactWords(inputs)],
  ];
}

function pipelineStatusText({ state, held, frozen, retired }: PipelineStatus, colors: Colors): string {
  if (retired) return colors.dim('retired');
  const stopped = [frozen && 'frozen', held && 'held'].filter((word) => word).join(' and ');
  return stopped === ''
    ? colors.green(`✔ ${state}`)
    : tint(colors, PAUSED_SYMBOL.tone, `${PAUSED_SYMBOL.glyph} ${stopped}`);
}

function scheduleWords({ mode, gates, next, timezone }: ScheduleView, view: View): string {
  if (mode === 'manual')
    return gates === 'releases' ? 'manual: only a person starts a release' : 'manual: a person picks what is deployed';
  const zone = timezone === undefined ? '' : ` of ${timezone}`;
  const when = next === null ? '' : `; next ${untilWords(next, view).replace(/^until /, '')}`;
  return `calendar${zone}, for ${gates}${when}`;
}

/** The stopped parts, with the reason and the end. */
function waitsSection(pipeline: PipelineStatus, view: View, colors: Colors): string[] {
  const { waits = [] } = pipeline;
  if (waits.length === 0) return [];
  const shown = waits.slice(0, view.compact ? 5 : 20);
  const cells = shown.map((wait) => {
    const { id, words } = describeWait(pipeline, wait, view);
    return [`  ${id}`, words];
  });
  const hidden = waits.length - shown.length;
  const more = hidden > 0 ? [colors.dim(`  … ${hidden} more; -o json shows all`)] : [];
  return [colors.bold('Waiting'), ...alignRows(cells), ...more];
}

/** A wait of one of its releases; the reason of a freeze or hold is shown once, above. */
export function describeWait({ id, frozen, held }: PipelineStatus, wait: WaitView, view: View) {
  const { release, action, why, until } = wait;
  const short = withoutReason(
    why,
    [frozen, held].flatMap((stopped) => stopped?.reason ?? []),
  );
  return {
    id: action === null ? releaseId(id, release) : deployId(id, release, action),
    words: until === null ? short : `${short} (${untilWords(until, view)})`,
  };
}

/** The finders of its inputs: one that is down explains why nothing new arrives. */
function findersSection({ finders = [] }: PipelineStatus, view: View, colors: Colors): string[] {
  return finders.length === 0 ? [] : [colors.bold('Finders'), ...finderRows(finders, view, colors)];
}

/** Its offers and their users. */
function offersSection({ id, offers = [] }: PipelineStatus, view: View, colors: Colors): string[] {
  if (offers.length === 0) return [];
  const cells = offers.map((offer) => [
    `  ${describeOffer(offer)}`,
    offerStateText(offer, view, colors),
    usersText(offer, view.compact ? 3 : 10),
  ]);
  const waysOut = listWaysOut(id, offers).flatMap((text) => wrap(text, Math.max(20, view.width - 2)));
  return [colors.bold('Offers'), ...alignRows(cells), ...waysOut.map((line) => `  ${line}`)];
}

/** Its deploys that use broken offers of others. */
function usesSection({ brokenUses = [] }: PipelineStatus, view: View, colors: Colors): string[] {
  const lines = brokenUses.flatMap(({ why }) => wrap(why, Math.max(20, view.width - 4)));
  return lines.length === 0 ? [] : [tint(colors, 'bad', 'At risk'), ...lines.map((line) => `  ${line}`)];
}

/** `used by shop/deploy (at risk: …) and 3 more`. */
export function usersText({ users }: OfferView, most: number): string {
  if (users.length === 0) return '';
  // Those at risk must be among the named ones.
  const sorted = [...users].sort((a, b) => Number(b.risk !== undefined) - Number(a.risk !== undefined));
  const named = sorted.slice(0, most).map((user) => {
    const mark = userMark(user);
    return mark === null ? user.user : `${user.user} (${mark})`;
  });
  const more = users.length - named.length;
  return `used by ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Groups that have a holder or a queue. */
function groupsSection({ groups = [] }: PipelineStatus, colors: Colors): string[] {
  const busy = groups.filter(isGroupBusy);
  if (busy.length === 0) return [];
  return [colors.bold('Exclusion'), ...alignRows(busy.map((group) => [`  ${group.name}`, ...groupWords(group)]))];
}

export const isGroupBusy = ({ holder, waiting }: GroupView): boolean => holder !== null || waiting.length > 0;

/** Its scope, its holder and the releases that wait for it; empty if there is nothing to state. */
export const groupWords = ({ scope, holder, waiting }: GroupView): readonly string[] => [
  scope === 'global' ? 'global' : '',
  holder === null ? 'free' : `held by release ${holder}`,
  waiting.length === 0 ? '' : `release ${waiting.join(', ')} waits`,
];

function goodSection({ lastGood }: PipelineStatus, colors: Colors): string[] {
  const good = Object.entries(lastGood).map(([action, last]) => [
    `  ${action}`,
    getRunningVersion(last),
    colors.dim(goodWords(last)),
  ]);
  return good.length === 0 ? [] : [colors.bold('In production'), ...alignRows(good)];
}

/** The version in production. */
export const getRunningVersion = (good: GoodView): string => good.undoing?.version ?? getGoodVersion(good);

const getGoodVersion = ({ version, replaced }: GoodView): string =>
  replaced && replaced.on === undefined ? replaced.version : version;

/** Since when a version is in production, or what replaced it. */
export function goodWords(good: GoodView): string {
  const { release, version, replaced, replacedUnknown, undoing } = good;
  if (undoing) return `since release ${undoing.release}; ${undoing.by} brings back ${getGoodVersion(good)}`;
  const since = release === 0 ? 'as before the first release' : `since release ${release}`;
  if (replaced === undefined) return replacedUnknown ? `${since}; ${REPLACED_UNKNOWN}` : since;
  const { by, on, removed } = replaced;
  const done = `${removed ? 'removed' : 'brought'} by ${by}`;
  return on === undefined
    ? `${done}; release ${release} had brought ${version}`
    : `${since}; ${on}: ${replaced.version}, ${done}`;
}

const REPLACED_UNKNOWN = 'unknown whether another pipeline has replaced it: Temporal did not list all locks in time';

/** Only a person brings these up to date, so their commands are the next to type. */
function behindSection({ behind = [] }: PipelineStatus, colors: Colors): string[] {
  if (behind.length === 0) return [];
  const cells = behind.map((one) => {
    const { units, state, why } = describeBehind(one);
    return [`  ${units}`, state, colors.dim(why)];
  });
  return [colors.bold('Left behind'), ...alignRows(cells)];
}

export const describeBehind = ({ units, more = 0, version, release }: BehindView) => ({
  units: formatNamed({ count: units.length + more, names: units }),
  state: `not on ${version}`,
  why: `release ${release} did not bring it`,
});

function badSection({ knownBad }: PipelineStatus, view: View, colors: Colors): string[] {
  const bad = knownBad.flatMap((one) => [
    `  ${colors.red('✖')} ${one.artifact}  ${colors.dim(`since ${clock(one.at, view)}`)}`,
    ...wrap(one.reason, Math.max(20, view.width - 6)).map((line) => `      ${line}`),
  ]);
  return bad.length === 0 ? [] : [colors.bold('Known bad'), ...bad];
}

const listLine = ({ webUiList }: PipelineStatus, colors: Colors): string[] =>
  webUiList === undefined ? [] : [`  with its releases and deploys  ${colors.underline(webUiList)}`];

/** The next commands to type. */
export function nextPipelineCommands(pipeline: PipelineStatus): string[] {
  const { id, active, held, frozen = null, behind = [], brokenUses = [], releases } = pipeline;
  const newest = active.at(-1);
  const commands = [
    ...(frozen === null ? [] : [`conveyor unfreeze ${id} --reason "…"`]),
    ...(held === null ? [] : [`conveyor unhold ${id} --reason "…"`]),
    ...releases.flatMap(resumeCommand),
    ...behind.map(({ bring }) => bring),
    ...new Set(brokenUses.map(({ from }) => `conveyor status ${from}`)),
    ...(newest === undefined ? [] : [`conveyor watch ${id}/${newest}`]),
  ];
  return commands.length > 0 ? commands : [`conveyor release ${id} --artifact NAME=VERSION --wait`];
}

/**
 * The command for a release that waits for a person, or whose deploy does. A resume of the release reaches the deploy,
 * too.
 */
function resumeCommand({ id, paused, pausedDeploy }: ReleaseSummary): string[] {
  const meant = paused ? { ...paused, id } : pausedDeploy;
  const waits = meant !== undefined && meant.by !== 'freeze' && !continuesByItself(meant);
  return waits ? [`conveyor resume ${meant.id} --reason "…"`] : [];
}
