import { releaseId } from '../ids';
import { STATE_LIMITS } from '../limits';
import { alignCells, block, code, list, formatMarkdown, moment, NO_MARKDOWN, sections } from '../markdown';
import { cutText } from '../size';
import { formatTime } from '../text';
import { PIPELINE_VERBS } from '../verbs';
import type {
  AcceptedVerbs,
  GoodView,
  GroupView,
  HistoryRow,
  PipelineStatus,
  PipelineSummary,
  ReleaseEnding,
  ReleaseSummary,
  WaitView,
} from '../views';
import { formatNamed } from '../deploy/unavailable';
import { admit } from './admission';
import { listBehind } from './behind';
import { effectOfPipeline, whyNotPipeline } from './control';
import { expiryWords } from './expiry';
import { nextOpening } from './openings';
import { startable, whyQueued } from './queue';
import { lastOwn, findReplacingRelease } from './replacement';
import { canRerun } from './rerun';
import { isQueued } from './room';
import type { ActiveRelease, GoodDeploy, PipelineState } from './state';
import { findUndoing, withReplaced, withUndone } from './undone';

/** The output of `list pipelines -o json`. */
export function pipelineSummary(state: PipelineState): PipelineSummary {
  const { spec, active, held, frozen, retired, nextNumber, deployedAt } = state;
  return {
    id: spec.pipeline,
    kind: 'pipeline',
    description: spec.description,
    owners: spec.owners,
    labels: spec.labels,
    state: frozen ? 'frozen' : held ? 'held' : 'active',
    ...(frozen?.until === undefined ? {} : { frozenUntil: frozen.until }),
    active: active.map(({ number }) => number),
    lastRelease: nextNumber > 1 ? nextNumber - 1 : null,
    ...(deployedAt === undefined ? {} : { deployedAt }),
    ...(retired ? { ended: true as const } : {}),
  };
}

/** Its summary in lists. */
export function buildListSummary(state: PipelineState): PipelineSummary {
  const stopped = state.retired ?? state.frozen ?? state.held;
  const outcomes = state.history.slice(-STATE_LIMITS.listedOutcomes.max).map(getReleaseEnd);
  const summary = { ...pipelineSummary(state), ...(outcomes.length > 0 ? { outcomes } : {}) };
  if (!stopped) return summary;
  return { ...summary, stopped: { ...stopped, reason: cutText(stopped.reason, STATE_LIMITS.stoppedReason.max) } };
}

function getReleaseEnd({ state, deploys }: HistoryRow): ReleaseEnding {
  if (state === 'succeeded' || state === 'cancelled') return state;
  return deploys.some(({ outcome }) => outcome === 'reverted') ? 'reverted' : 'failed';
}

/** The output of `status PIPELINE -o json`, without the address of the Web UI. */
export function pipelineStatus(state: PipelineState, nowMs: number): Omit<PipelineStatus, 'webUi'> {
  const { spec, active, held, frozen, knownBad, good, history, commands, inputs } = state;
  const { mode, gates, timezone } = spec.schedule;
  const next = nextOpening(state, nowMs);
  const behind = listBehind(state);
  const recent = history.slice(-RECENT);
  const rerunnable = recent.filter((row) => canRerun(state, row)).map(({ number }) => number);
  const lastGood = Object.entries(good).flatMap(([action, deploys]) => {
    const last = lastOwn(deploys);
    const undoing = findUndoing(state, action);
    return last
      ? [[action, { ...goodView(last, findReplacingRelease(deploys)), ...(undoing ? { undoing } : {}) }] as const]
      : [];
  });
  return {
    ...pipelineSummary(state),
    held,
    frozen,
    ...(state.retired ? { retired: state.retired } : {}),
    schedule: { mode, gates, next: next === undefined ? null : formatTime(next), ...(timezone ? { timezone } : {}) },
    groups: groupViews(state),
    ...(state.begunAt ? { begun: formatBegunTimes(state.begunAt) } : {}),
    waits: listWaitViews(state, nowMs),
    inputs: Object.values(inputs),
    ...(state.late.length > 0 ? { late: state.late } : {}),
    knownBad,
    lastGood: Object.fromEntries(lastGood),
    ...(behind.length > 0 ? { behind } : {}),
    releases: [...recent, ...active.map((release) => summary(spec.pipeline, release))].sort(
      (a, b) => a.number - b.number,
    ),
    ...(rerunnable.length > 0 ? { rerunnable } : {}),
    commands,
    ...(state.imported ? { imported: { actor: state.imported.actor, at: state.imported.at } } : {}),
    accepts: collectPipelineVerbs(state, nowMs),
  };
}

/** Those of its inputs that a person chooses are in its status: known-bad artifacts, and users of its offers. */
function collectPipelineVerbs(state: PipelineState, nowMs: number): AcceptedVerbs {
  const [bad] = state.knownBad;
  const input = bad === undefined ? {} : { artifact: bad.artifact };
  return Object.fromEntries(
    PIPELINE_VERBS.filter(
      (verb) => verb !== 'end-use' && !state.retired && whyNotPipeline(state, verb, input, nowMs) === undefined,
    ).map((verb) => [verb, effectOfPipeline(verb, state)]),
  );
}

function goodView({ release, version, partly }: GoodDeploy, other: GoodDeploy | undefined): GoodView {
  const removed = other?.removed ? { removed: true as const } : {};
  const by = other?.by === undefined ? partly : { by: other.by, version: other.version, ...removed };
  return { release, version, ...(by ? { replaced: by } : {}) };
}

const formatBegunTimes = (begunAt: NonNullable<PipelineState['begunAt']>): PipelineStatus['begun'] =>
  Object.fromEntries(Object.entries(begunAt).map(([name, all]) => [name, all.map(([, atMs]) => formatTime(atMs))]));

/** The lock for deploys as one group, and the groups that the pipeline itself grants. */
function groupViews({ spec, deploys, mutexes, ready }: PipelineState): GroupView[] {
  const waitsFor = (name: string) => ready.filter(({ mutex = [] }) => mutex.includes(name));
  const view = (name: string, holder: string | undefined, waiting: PipelineState['ready']): GroupView => ({
    name,
    scope: 'pipeline',
    holder: holder === undefined ? null : Number(holder),
    waiting: [...new Set(waiting.map(({ release }) => release))].sort((a, b) => a - b),
  });
  const own = Object.entries(spec.mutex).filter(([, { scope }]) => scope === 'pipeline');
  return [
    view(
      'deploy',
      deploys.holder?.owner,
      ready.filter(({ kind = 'deploy' }) => kind === 'deploy'),
    ),
    ...own.map(([name]) => view(name, mutexes[name]?.holder?.owner, waitsFor(name))),
  ];
}

function listWaitViews(state: PipelineState, nowMs: number): WaitView[] {
  const untilOf = (untilMs: number | undefined) => (untilMs === undefined ? null : formatTime(untilMs));
  const starting = startable(state, nowMs);
  const queued = state.active
    .filter((release) => isQueued(release) && !starting.includes(release))
    .map((release): WaitView => {
      const { why, untilMs } = whyQueued(state, release, nowMs);
      const whole = `${why}${expiryWords(state, release)}`;
      return { release: release.number, action: null, why: whole, until: untilOf(untilMs) };
    });
  const gone = state.active.flatMap(({ number, gone: left }): WaitView[] =>
    left
      ? [{ release: number, action: null, why: `it was ended through Temporal; ${left.open.join('; ')}`, until: null }]
      : [],
  );
  const ready = admit(state, nowMs).waiting.map(({ ready: { release, action }, why, untilMs }): WaitView => ({
    release,
    action,
    why,
    until: untilOf(untilMs),
  }));
  return [...queued, ...gone, ...ready];
}

const RECENT = 10;

const summary = (pipeline: string, release: ActiveRelease): ReleaseSummary => ({
  id: releaseId(pipeline, release.number),
  kind: 'release',
  pipeline,
  number: release.number,
  state: release.gone ? 'failed' : release.state,
  cause: null,
  ...(release.rerunOf === undefined ? {} : { rerunOf: release.rerunOf }),
  trigger: release.trigger,
  startedAt: release.createdAt,
  endedAt: release.gone?.endedAt ?? null,
  artifacts: release.artifacts,
});

/** The current details of a pipeline in the Temporal Web UI (docs/design/workflows.md#in-the-web-ui). */
export function pipelineDetails(state: PipelineState, nowMs: number): string {
  const status = pipelineStatus(state, nowMs);
  const { id, held, frozen, lastGood, behind = [], releases, knownBad, waits = [], late = [] } = status;
  const good = Object.entries(lastGood).map(([action, { release, version, replaced, undoing }]) => {
    if (undoing)
      return formatMarkdown`${action}: ${code(undoing.version)}, brought by release ${undoing.release}; ${undoing.by} brings back ${code(replaced && replaced.on === undefined ? replaced.version : version)}`;
    const since = release === 0 ? 'as before the first release' : `since release ${release}`;
    if (replaced === undefined) return formatMarkdown`${action}: ${code(version)}, ${since}`;
    return replaced.on === undefined
      ? formatMarkdown`${action}: ${code(replaced.version)}, ${replaced.removed ? 'removed' : 'brought'} by ${replaced.by}; release ${release} had brought ${code(version)}`
      : formatMarkdown`${action}: ${code(version)}, ${since}; ${code(replaced.version)} on ${replaced.on}, ${replaced.removed ? 'removed' : 'brought'} by ${replaced.by}`;
  });
  return sections(
    formatMarkdown`## ${id}`,
    frozen
      ? formatMarkdown`**frozen by ${frozen.actor} since ${moment(frozen.at)} UTC${frozen.until ? `, until ${moment(frozen.until)} UTC` : ''}: ${frozen.reason}**`
      : NO_MARKDOWN,
    held ? formatMarkdown`**held by ${held.actor} since ${moment(held.at)} UTC: ${held.reason}**` : NO_MARKDOWN,
    good.length > 0 ? list('In production', good) : formatMarkdown`Nothing has been deployed yet.`,
    list(
      'Left behind, and not tried again',
      behind.map(
        ({ units, more = 0, version, release, bring }) =>
          formatMarkdown`${formatNamed({ count: units.length + more, names: units })}: not brought to ${code(version)} by release ${release}; ${code(bring)}`,
      ),
    ),
    releases.length > 0
      ? formatMarkdown`Releases, newest first, and when they started (UTC)\n${alignCells(newestFirst(withReplaced(withUndone(releases), lastGood)))}`
      : NO_MARKDOWN,
    list(
      'Waiting',
      waits.map(
        ({ release, action, why, until }) =>
          formatMarkdown`release ${release}${action === null ? '' : `, ${action}`}: ${why}${until === null ? '' : `, until ${moment(until)} UTC`}`,
      ),
    ),
    list(
      'Arrived after a newer version, and started nothing',
      late.map(
        ({ artifact, at, behind: newer }) =>
          formatMarkdown`${code(artifact)} at ${moment(at)} UTC, behind ${code(newer)}`,
      ),
    ),
    list(
      'Known bad: never deployed again unless a person allows it',
      knownBad.map(({ artifact, reason }) => formatMarkdown`${code(artifact)}: ${reason}`),
    ),
    formatMarkdown`Next:\n${block(suggestPipelineCommands(status, state.active.length > 0))}`,
  );
}

const newestFirst = (releases: readonly ReleaseSummary[]): string[][] =>
  [...releases]
    .reverse()
    .map((release) => [String(release.number), release.state, moment(release.startedAt), remarks(release).join(', ')]);

const remarks = ({ cause, rerunOf, undone, replacedBy }: ReleaseSummary): string[] =>
  [
    cause ?? [],
    rerunOf === undefined ? [] : `rerun of #${rerunOf}`,
    undone ? `${undone.at === null ? 'being undone' : 'undone'} by ${undone.by}` : [],
    replacedBy === undefined ? [] : `replaced by ${replacedBy}`,
  ].flat();

/** A pipeline does not know which of its releases are paused; `status` asks them. */
function suggestPipelineCommands(
  { id, held, frozen, knownBad }: Omit<PipelineStatus, 'webUi'>,
  isActive: boolean,
): string[] {
  const reason = '--reason "…"';
  const bad = knownBad.at(-1)?.artifact;
  return [
    ...(isActive ? [`conveyor status ${id} # shows which releases are paused, and why`] : []),
    `conveyor history ${id}`,
    ...(frozen ? [`conveyor unfreeze ${id} ${reason}`] : []),
    held !== null ? `conveyor unhold ${id} ${reason}` : `conveyor hold ${id} ${reason}`,
    ...(bad === undefined ? [] : [`conveyor allow-artifact ${id} ${bad} ${reason}`]),
  ];
}
