import { formatIdentity } from '../artifact';
import { releaseId } from '../ids';
import { findReplacer, undoneBy } from '../pipeline/undone';
import { withReason } from '../text';
import type {
  ActionView,
  DeployStatus,
  DeploySummary,
  HistoryRow,
  Pause,
  PipelineStatus,
  ReleaseStatus,
  ReleaseSummary,
  Undone,
} from '../views';
import { pipelineWait } from '../waitAhead';
import { computeLiveShare, findPhaseUnderWay } from './progress';
import type { WhereDeploy, WhereRelease, WhereStage } from './view';

/** The facts known about a release that contains a revision. The lists of Temporal have the first three; workflows may be silent. */
export interface WhereFacts {
  readonly release: ReleaseSummary;
  readonly contains: WhereRelease['contains'];
  /** The newest attempt of each of its deploys. */
  readonly deploys: readonly DeploySummary[];
  readonly status?: ReleaseStatus | undefined;
  readonly deployStatuses: readonly DeployStatus[];
  readonly pipeline?: PipelineFacts | undefined;
  /** When it will be everywhere; null if that is not known. */
  readonly everywhereAt: string | null;
  readonly problem?: string | undefined;
}

/** The records of a pipeline, newest release last. */
export interface PipelineFacts {
  readonly status: Omit<PipelineStatus, 'webUi'>;
  readonly history: readonly HistoryRow[];
  /** Whether a deploy is under way, which replaces versions. */
  readonly isDeploying: boolean;
}

export function toWhereRelease(facts: WhereFacts): WhereRelease {
  const { release, contains, pipeline, everywhereAt, problem } = facts;
  const { id, number, state, startedAt, endedAt } = release;
  const undone = findUndoing(facts);
  const deploys = listOwnDeploys(facts);
  const stage = findStage(facts, undone);
  const wait = findHold(facts);
  const bad = new Set(pipeline?.status.knownBad.map(({ artifact }) => artifact));
  const by = findSuccessor(facts, stage, undone);
  return {
    ...{ id, pipeline: release.pipeline, number, state, stage, contains, startedAt, endedAt, deploys },
    share: findShare(facts, stage, deploys),
    by,
    knownBad: release.artifacts.map(formatIdentity).filter((identity) => bad.has(identity)),
    ...{ undone, wait: wait && { why: wait.why, until: wait.until } },
    everywhereAt,
    next: wait?.next ?? chooseNextCommand(facts, stage, by),
    ...(problem === undefined ? {} : { problem }),
  };
}

const findUndoing = ({ release, pipeline }: WhereFacts): Undone | null =>
  release.undone ?? undoneBy(release, [...(pipeline?.history ?? []), ...(pipeline?.status.releases ?? [])]) ?? null;

function listOwnDeploys({ release, deploys, deployStatuses }: WhereFacts): readonly WhereDeploy[] {
  return deploys.map((deploy) => {
    const status = deployStatuses.find(({ id }) => id === deploy.id);
    const { state, outcome } = status ?? deploy;
    return {
      ...{ action: deploy.id.slice(release.id.length + 1), state, outcome },
      phase: status === undefined || outcome !== null ? null : findPhaseUnderWay(status),
      share:
        status === undefined
          ? outcome === 'succeeded'
            ? 1
            : outcome === 'reverted'
              ? 0
              : null
          : computeLiveShare(status),
    };
  });
}

function findStage(facts: WhereFacts, undone: Undone | null): WhereStage {
  const { release, deploys, pipeline } = facts;
  if (release.endedAt === null) return findOpenStage(facts);
  if (undone?.at != null) return 'undone';
  if (deploys.some(({ outcome }) => outcome === 'reverted')) return 'reverted';
  if (release.cause === 'superseded' || release.cause === 'preempted') return 'superseded';
  if (release.state !== 'succeeded') return release.state === 'cancelled' ? 'cancelled' : 'failed';
  const own = listOwnActions(facts);
  if (pipeline === undefined || own.length === 0) return 'succeeded';
  const current = own.filter((action) => isCurrent(pipeline, release.number, action));
  if (current.length === own.length) return 'everywhere';
  return current.length === 0 ? 'replaced' : 'succeeded';
}

/** The deploy actions that the release brought its version to. */
const listOwnActions = ({ release, deploys, pipeline }: WhereFacts): readonly string[] => {
  const row = pipeline?.history.find(({ number }) => number === release.number);
  const recorded = row?.deploys.flatMap(({ action, outcome }) => (outcome === 'succeeded' ? [action] : []));
  return (
    recorded ?? deploys.flatMap(({ id, outcome }) => (outcome === 'succeeded' ? [id.slice(release.id.length + 1)] : []))
  );
};

function isCurrent({ status }: PipelineFacts, number: number, action: string): boolean {
  const good = status.lastGood[action];
  return (
    good?.release === number &&
    good.undoing === undefined &&
    (good.replaced === undefined || good.replaced.on !== undefined)
  );
}

const BUILDS: readonly string[] = ['build', 'pkg'];
const WAITING_STATES: readonly string[] = ['manual-pick', 'wait-for'];

function findOpenStage({ release, deploys, status }: WhereFacts): WhereStage {
  const open = deploys.filter(({ outcome, state }) => outcome === null && state !== 'ended');
  if (open.some(({ state }) => state === 'reverting')) return 'reverting';
  if (release.state === 'paused' || open.some(({ paused }) => paused !== null)) return 'paused';
  if (open.some(({ state }) => !state.startsWith('waiting-'))) return 'deploying';
  const actions = status?.actions ?? [];
  const running = actions.filter(({ state, deploy }) => state === 'running' && deploy === null);
  if (running.some(({ type }) => BUILDS.includes(type))) return 'building';
  if (running.some(({ type }) => !WAITING_STATES.includes(type))) return 'testing';
  const isWaiting = open.length > 0 || running.length > 0 || actions.some(({ state }) => state === 'blocked');
  return isWaiting ? 'waiting' : 'running';
}

interface WhereWait {
  readonly why: string;
  readonly until: string | null;
  readonly next: string | null;
}

/** The strongest hindrance first: what stops the pipeline, a pause, then what an action or a deploy waits for. */
function findHold({ release, deploys, status, deployStatuses, pipeline }: WhereFacts): WhereWait | null {
  if (release.endedAt !== null) return null;
  const ahead = pipeline && pipelineWait(pipeline.status as PipelineStatus, release.number);
  if (ahead) return ahead;
  const deploy = deployStatuses.find(({ outcome }) => outcome === null);
  const paused = deploys.find((one) => one.outcome === null && one.paused !== null);
  if (paused?.paused)
    return {
      why: describePausedDeploy(paused.paused),
      until: null,
      next: deploy?.next[0] ?? `conveyor status ${paused.id}`,
    };
  if (release.state === 'paused')
    return { why: 'the release is paused', until: null, next: `conveyor resume ${release.id} --reason "…"` };
  const blocked = status?.actions.find(isHeldBack);
  if (blocked) return { why: describeAction(blocked), until: blocked.until, next: pickCommand(release.id, blocked) };
  if (deploy === undefined) return null;
  const baking = deploy.phases.find(
    (phase) => phase.state === 'running' && phase.updatedAt !== null && phase.bakedAt === null,
  );
  const until = deploy.until ?? baking?.bakeUntil ?? null;
  return { why: deploy.summary.replace(` until ${until}`, ''), until, next: null };
}

const describePausedDeploy = ({ by, actor, reason }: Pause): string => withReason(`paused by ${actor ?? by}`, reason);

const isHeldBack = ({ state, blockedBy, pickBy }: ActionView): boolean =>
  (state === 'blocked' || state === 'running') && (blockedBy !== null || pickBy !== null);

const describeAction = ({ name, blockedBy, pickBy }: ActionView): string =>
  `${name}: ${blockedBy ?? (pickBy === null ? '' : 'waiting for a person to let it continue')}`;

const pickCommand = (id: string, { name, pickBy }: ActionView): string | null =>
  pickBy === null ? null : `conveyor pick ${id}/${name} --approve`;

/** Weighted by tasks; a deploy that has not begun makes it unknown. */
function findShare(
  { release, status, deployStatuses, pipeline }: WhereFacts,
  stage: WhereStage,
  deploys: readonly WhereDeploy[],
): number | null {
  if (stage === 'everywhere') return 1;
  if (stage === 'undone' || stage === 'reverted') return 0;
  if (stage === 'replaced') return pipeline?.isDeploying ? null : 0;
  if (release.endedAt !== null) return deploys.length === 0 ? 0 : null;
  const [only] = deploys;
  const actions = status?.actions.filter(({ type }) => type === 'deploy') ?? [];
  if (status !== undefined && actions.every(({ deploy }) => deploy === null)) return 0;
  if (actions.length === 1 && only !== undefined) return only.share;
  const known = actions.flatMap(({ deploy }) => deployStatuses.find(({ id }) => id === deploy) ?? []);
  const parts = known.map((one) => ({ tasks: one.planned?.tasks ?? null, share: computeLiveShare(one) }));
  if (parts.length < actions.length || parts.length === 0) return null;
  if (parts.some(({ tasks, share }) => tasks === null || share === null)) return null;
  const sum = (count: (part: (typeof parts)[number]) => number): number =>
    parts.reduce((all, part) => all + count(part), 0);
  const total = sum(({ tasks }) => tasks ?? 0);
  return total === 0 ? null : sum(({ tasks, share }) => (tasks ?? 0) * (share ?? 0)) / total;
}

/** The release that runs, or is to run, in its place. */
function findSuccessor(facts: WhereFacts, stage: WhereStage, undone: Undone | null): string | null {
  const { release, pipeline } = facts;
  if (undone !== null) return undone.by;
  if (release.causedBy !== undefined) return releaseId(release.pipeline, release.causedBy);
  if (stage !== 'replaced' || pipeline === undefined) return null;
  const other = findReplacer(release, pipeline.status.lastGood);
  if (other !== undefined) return other;
  const [action = ''] = listOwnActions(facts);
  const now = pipeline.status.lastGood[action]?.release;
  return now === undefined || now === 0 ? null : releaseId(release.pipeline, now);
}

function chooseNextCommand(
  { release, deploys, deployStatuses }: WhereFacts,
  stage: WhereStage,
  by: string | null,
): string {
  const { id, endedAt } = release;
  if (endedAt === null) {
    const open = deployStatuses.find(({ outcome }) => outcome === null);
    return open?.next[0] ?? `conveyor watch ${id}`;
  }
  const reverted = deploys.find(({ outcome }) => outcome === 'reverted');
  if (stage === 'reverted' && reverted) return `conveyor status ${reverted.id}`;
  return `conveyor status ${by ?? id}`;
}
