import { bugIn } from '../release/bugNotice';
import { getCategory } from '../health/statistics';
import { onOneLine } from '../plainText';
import { cutText } from '../size';
import { deployRow } from '../pipeline/recordOutcome';
import type { DeployInput } from '../deploy/state';
import type { DeployEndRecord, ReleaseInput } from '../release/state';
import type { ActionView, DeployStatus, HistoryRow, ReleaseStatus } from '../views';
import { formatArchivedArtifacts } from '../where/archived';
import { checkKind } from './checkKind';
import { blankRow, type ArchiveRow, type Cadence } from './row';

/** A run of a workflow, and when Temporal closed it, in ms since the epoch. */
export interface ClosedRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly closedMs: number;
}

/** An ended release: its input and its last status. */
export interface EndedRelease extends ClosedRun {
  readonly input: Pick<ReleaseInput, 'spec' | 'trigger' | 'followOn'>;
  readonly status: Pick<
    ReleaseStatus,
    'number' | 'state' | 'cause' | 'causedBy' | 'rerunOf' | 'startedAt' | 'endedAt' | 'actions' | 'commands'
  > &
    Partial<Pick<ReleaseStatus, 'artifacts'>>;
  readonly deploys: readonly DeployEndRecord[];
  readonly cadence: Cadence;
}

export interface EndedDeploy extends ClosedRun {
  readonly input: Pick<DeployInput, 'pipeline' | 'release' | 'action' | 'spec' | 'rollback' | 'followOn' | 'removal'>;
  readonly status: Pick<
    DeployStatus,
    | 'pushType'
    | 'outcome'
    | 'classification'
    | 'progress'
    | 'pattern'
    | 'blame'
    | 'startedAt'
    | 'endedAt'
    | 'phases'
    | 'health'
    | 'commands'
    | 'spans'
    | 'revert'
  >;
}

/** The key of a row: `part` is empty for the release or deploy itself. */
export const rowKey = ({ workflowId, runId }: Pick<ClosedRun, 'workflowId' | 'runId'>, part: string = ''): string =>
  `${workflowId}@${runId}${part === '' ? '' : `#${part}`}`;

/** A release, its actions and its commands. */
export function releaseRows(ended: EndedRelease): readonly ArchiveRow[] {
  const { input, status } = ended;
  const { spec, trigger } = input;
  const of = { pipeline: spec.pipeline, release: status.number };
  const endedMs = at(status.endedAt) ?? ended.closedMs;
  const failed = status.actions.find(({ state }) => state === 'failed');
  const release: ArchiveRow = {
    ...blankRow({ key: rowKey(ended), kind: 'release', ...of, state: status.state, endedMs }),
    name: status.cause === 'bad-package' ? (findEndingBug(ended) ?? null) : null,
    type: status.state === 'failed' ? (failed?.type ?? null) : null,
    cause: status.cause,
    trigger: trigger.kind,
    category: getCategory(spec),
    cadence: ended.cadence,
    parts: Object.keys(spec.actions).length,
    startedMs: at(status.startedAt),
    detail: isTelling(ended) ? JSON.stringify(toHistoryRow(ended, endedMs)) : null,
    artifacts: formatArchivedArtifacts(status.artifacts ?? []),
  };
  return [
    release,
    ...status.actions.map((action) => actionRow(ended, action, { ...of, endedMs })),
    ...commandRows(ended, { ...of, endedMs }),
  ];
}

/** A deploy, with the phases that it reached, its unhealthy checks and its commands. */
export function deployRows(ended: EndedDeploy): readonly ArchiveRow[] {
  const { input, status } = ended;
  const of = { pipeline: input.pipeline, release: input.release };
  const endedMs = at(status.endedAt) ?? ended.closedMs;
  const { spans } = status;
  const deploy: ArchiveRow = {
    ...blankRow({ key: rowKey(ended), kind: 'deploy', ...of, state: status.outcome ?? 'failed', endedMs }),
    name: input.action,
    type: status.pushType,
    classification: status.classification,
    cause: status.blame ?? null,
    progress: status.progress ?? null,
    pattern: input.rollback || input.followOn || input.removal ? null : (status.pattern ?? null),
    parts: status.phases.length,
    startedMs: at(status.startedAt),
    ...{ updateMs: spans.updateMs, bakeMs: spans.bakeMs, preMs: spans.preMs, postMs: spans.postMs },
    revertMs: status.revert === null ? null : spans.revertMs,
  };
  return [
    deploy,
    ...phaseRows(ended, of),
    ...checkRows(ended, { ...of, endedMs }),
    ...commandRows(ended, { ...of, endedMs }),
  ];
}

/** A row for an unreadable end, so that it is counted and not read again. */
export function unreadRow(run: ClosedRun, why: string): ArchiveRow {
  const [, pipeline = '', number = ''] = run.workflowId.split('/');
  const of = { pipeline, release: /^\d{1,9}$/.test(number) ? Number(number) : 0, endedMs: run.closedMs };
  return {
    ...blankRow({ key: rowKey(run), kind: 'unread', state: 'unread', ...of }),
    cause: cutText(onOneLine(why), 300),
  };
}

/** The bug that ended a release, from the reason for its cancellation. */
const findEndingBug = ({ status: { actions, commands } }: EndedRelease): string | undefined =>
  [...commands.map(({ reason }) => reason), ...actions.map(({ message }) => message ?? '')]
    .map(bugIn)
    .find((bug) => bug !== undefined);

type Of = Pick<ArchiveRow, 'pipeline' | 'release' | 'endedMs'>;

function actionRow(run: ClosedRun, { name, type, state, startedAt, endedAt }: ActionView, of: Of): ArchiveRow {
  const key = rowKey(run, `action/${name}`);
  const row = blankRow({ ...of, key, kind: 'action', state, endedMs: at(endedAt) ?? of.endedMs });
  return { ...row, name, type, startedMs: at(startedAt) };
}

function phaseRows(ended: EndedDeploy, of: Omit<Of, 'endedMs'>): ArchiveRow[] {
  return ended.status.phases.flatMap(({ index, name, state, startedAt, updatedAt, bakedAt }) => {
    if (startedAt === null) return [];
    const endedMs = at(bakedAt) ?? at(updatedAt) ?? at(ended.status.endedAt) ?? ended.closedMs;
    const row = blankRow({ ...of, key: rowKey(ended, `phase/${index}`), kind: 'phase', state, endedMs });
    return [{ ...row, name, startedMs: at(startedAt) }];
  });
}

/** One row for a check that is unhealthy in several units. */
function checkRows(ended: EndedDeploy, of: Of): ArchiveRow[] {
  const unhealthy = ended.status.health.filter(({ verdict }) => verdict === 'unhealthy').map(({ check }) => check);
  const metrics = new Map(ended.input.spec.healthChecks.map(({ name, metric }) => [name, metric]));
  return [...new Set(unhealthy)].map((name) => ({
    ...blankRow({ ...of, key: rowKey(ended, `check/${name}`), kind: 'check', state: 'unhealthy' }),
    name,
    type: checkKind(metrics.get(name) ?? ''),
  }));
}

const commandRows = (run: ClosedRun & { readonly status: Pick<ReleaseStatus, 'commands'> }, of: Of): ArchiveRow[] =>
  run.status.commands.map(({ at: given, verb, accepted }, nth) => ({
    ...blankRow({
      ...of,
      key: rowKey(run, `command/${nth}`),
      kind: 'command',
      state: accepted ? 'accepted' : 'rejected',
    }),
    ...{ name: verb, endedMs: at(given) ?? of.endedMs },
  }));

function toHistoryRow({ input, status, deploys }: EndedRelease, endedMs: number): HistoryRow {
  const { spec, trigger, followOn } = input;
  const { number, state, cause, causedBy, rerunOf, startedAt } = status;
  return {
    ...{ id: `${spec.pipeline}/${number}`, kind: 'release', pipeline: spec.pipeline, number, state, cause, trigger },
    ...(causedBy === undefined ? {} : { causedBy }),
    ...(rerunOf === undefined ? {} : { rerunOf }),
    ...{ startedAt, endedAt: new Date(endedMs).toISOString(), durationMs: endedMs - Date.parse(startedAt) },
    ...(followOn === undefined ? {} : { followOn: { action: followOn.action, units: followOn.units } }),
    artifacts: [],
    deploys: deploys.map(deployRow),
  };
}

/** Whether it tells anything about a version: it deployed or reverted one. */
const isTelling = ({ input: { trigger }, deploys }: EndedRelease): boolean =>
  deploys.length > 0 || trigger.kind === 'rollback' || trigger.kind === 'emergency';

const at = (time: string | null): number | null => (time === null ? null : Date.parse(time));
