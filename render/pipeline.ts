import { formatNamed } from '../domain/deploy/unavailable';
import { continuesByItself } from '../domain/deploy/view';
import { describeOffer } from '../domain/offers/judge';
import type { GoodView, OfferView, PipelineStatus, ReleaseSummary, ScheduleView } from '../domain/views';
import { fieldLines, joinSections, nextSection } from './deploy';
import { finderRows } from './finders';
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
    pipelineFieldLines(pipeline, view, colors),
    waitsSection(pipeline, view, colors),
    findersSection(pipeline, view, colors),
    offersSection(pipeline, view, colors),
    groupsSection(pipeline, colors),
    goodSection(pipeline, colors),
    behindSection(pipeline, colors),
    badSection(pipeline, view, colors),
    releaseTable(newestFirst.slice(0, view.compact ? 5 : 15), view).split('\n'),
    [...nextSection(nextPipelineCommands(pipeline), pipeline.webUi, colors), ...listLine(pipeline, colors)],
  ];
  return joinSections(sections, view);
}

function pipelineFieldLines(pipeline: PipelineStatus, view: View, colors: Colors): string[] {
  const { held, frozen = null, schedule, inputs = [] } = pipeline;
  const labels = Object.entries(pipeline.labels).map(([key, value]) => `${key}=${value}`);
  const by = (one: NonNullable<typeof held>): string => `by ${one.actor} ${ago(one.at, view)}: ${one.reason}`;
  return fieldLines(
    [
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
    ],
    colors,
  );
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
  const { id, waits = [], frozen, held } = pipeline;
  if (waits.length === 0) return [];
  const given = [frozen, held].flatMap((stopped) => stopped?.reason ?? []);
  const shown = waits.slice(0, view.compact ? 5 : 20);
  const cells = shown.map(({ release, action, why, until }) => {
    const short = withoutReason(why, given);
    return [
      `  ${action === null ? `${id}/${release}` : `${id}/${release}/${action}`}`,
      until === null ? short : `${short} (${untilWords(until, view)})`,
    ];
  });
  const hidden = waits.length - shown.length;
  const more = hidden > 0 ? [colors.dim(`  … ${hidden} more; -o json shows all`)] : [];
  return [colors.bold('Waiting'), ...alignRows(cells), ...more];
}

/** The finders of its inputs: one that is down explains why nothing new arrives. */
function findersSection({ finders = [] }: PipelineStatus, view: View, colors: Colors): string[] {
  return finders.length === 0 ? [] : [colors.bold('Finders'), ...finderRows(finders, view, colors)];
}

/** Its offers and their users. */
function offersSection({ offers = [] }: PipelineStatus, view: View, colors: Colors): string[] {
  if (offers.length === 0) return [];
  const cells = offers.map((offer) => [
    `  ${describeOffer(offer)}`,
    offerStateText(offer, view, colors),
    usersText(offer, view.compact ? 3 : 10),
  ]);
  return [colors.bold('Offers'), ...alignRows(cells)];
}

function offerStateText({ state, since }: OfferView, view: View, colors: Colors): string {
  if (state === 'unmade') return colors.dim('not made yet');
  const time = since === null ? '' : ` ${ago(since, view)}`;
  return state === 'made' ? colors.green(`✔ made${time}`) : tint(colors, 'warn', '⚠ being withdrawn');
}

function usersText({ users }: OfferView, most: number): string {
  if (users.length === 0) return '';
  const named = users.slice(0, most).map(({ user, behind }) => (behind ? `${user} (an earlier value)` : user));
  const more = users.length - named.length;
  return `used by ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Groups that have a holder or a queue. */
function groupsSection({ groups = [] }: PipelineStatus, colors: Colors): string[] {
  const busy = groups.filter(({ holder, waiting }) => holder !== null || waiting.length > 0);
  if (busy.length === 0) return [];
  const cells = busy.map(({ name, scope, holder, waiting }) => [
    `  ${name}`,
    scope === 'global' ? 'global' : '',
    holder === null ? 'free' : `held by release ${holder}`,
    waiting.length === 0 ? '' : `release ${waiting.join(', ')} waits`,
  ]);
  return [colors.bold('Exclusion'), ...alignRows(cells)];
}

function goodSection({ lastGood }: PipelineStatus, colors: Colors): string[] {
  const good = Object.entries(lastGood).map(([action, last]) => [
    `  ${action}`,
    last.undoing?.version ?? getGoodVersion(last),
    colors.dim(goodWords(last)),
  ]);
  return good.length === 0 ? [] : [colors.bold('In production'), ...alignRows(good)];
}

const getGoodVersion = ({ version, replaced }: GoodView): string =>
  replaced && replaced.on === undefined ? replaced.version : version;

function goodWords(good: GoodView): string {
  const { release, version, replaced, replacedUnknown, undoing } = good;
  if (undoing) return `since release ${undoing.release}; ${undoing.by} brings back ${getGoodVersion(good)}`;
  const since = release === 0 ? 'as before the first release' : `since release ${release}`;
  if (replaced === undefined) return replacedUnknown ? `${since}; ${REPLACED_UNKNOWN}` : since;
  const { by, on } = replaced;
  return on === undefined
    ? `brought by ${by}; release ${release} had brought ${version}`
    : `${since}; ${on}: ${replaced.version}, brought by ${by}`;
}

const REPLACED_UNKNOWN = 'unknown whether another pipeline has replaced it: Temporal did not list all locks in time';

/** Only a person brings these up to date, so their commands are the next to type. */
function behindSection({ behind = [] }: PipelineStatus, colors: Colors): string[] {
  if (behind.length === 0) return [];
  const cells = behind.map(({ units, more = 0, version, release }) => [
    `  ${formatNamed({ count: units.length + more, names: units })}`,
    `not on ${version}`,
    colors.dim(`release ${release} did not bring it`),
  ]);
  return [colors.bold('Left behind'), ...alignRows(cells)];
}

function badSection({ knownBad }: PipelineStatus, view: View, colors: Colors): string[] {
  const bad = knownBad.flatMap((one) => [
    `  ${colors.red('✖')} ${one.artifact}  ${colors.dim(`since ${clock(one.at, view)}`)}`,
    ...wrap(one.reason, Math.max(20, view.width - 6)).map((line) => `      ${line}`),
  ]);
  return bad.length === 0 ? [] : [colors.bold('Known bad'), ...bad];
}

const listLine = ({ webUiList }: PipelineStatus, colors: Colors): string[] =>
  webUiList === undefined ? [] : [`  with its releases and deploys  ${colors.underline(webUiList)}`];

function nextPipelineCommands({ id, active, held, frozen = null, behind = [], releases }: PipelineStatus): string[] {
  const newest = active.at(-1);
  const commands = [
    ...(frozen === null ? [] : [`conveyor unfreeze ${id} --reason "…"`]),
    ...(held === null ? [] : [`conveyor unhold ${id} --reason "…"`]),
    ...releases.flatMap(resumeCommand),
    ...behind.map(({ bring }) => bring),
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
