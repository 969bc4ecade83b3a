import type { WorkflowHandle } from '@temporalio/client';
import { withRevertCounts, type UpdateUnitCounts } from '../domain/deploy/counts';
import { continuesByItself } from '../domain/deploy/view';
import type { TurnWait } from '../domain/fleet/unit';
import type { Verdict } from '../domain/health/verdict';
import { looksSince, STILL_WAITING } from '../domain/looks';
import { formatTime } from '../domain/text';
import type { ActionView, DeployStatus, HealthRow, Pause } from '../domain/views';
import { payloadsIn, type ReadPayload } from './activityPayloads';

/** The last heartbeat of a running activity, and the failure of its last attempt, unless it is only waiting. */
export interface PendingActivityView {
  readonly id: string;
  readonly activity: string;
  /** An attempt runs; it waits for its next look; or it waits for a retry or a worker. */
  readonly stage: 'runs' | 'waits' | 'tries';
  readonly heartbeat: unknown;
  readonly failure: string | null;
  /** When the next attempt begins, ms since the epoch; null while one runs. */
  readonly nextMs: number | null;
  /** Counted from the last look that saw something. */
  readonly attempt: number;
  /** When an attempt last ended, or saw something; ms since the epoch, null before the first. */
  readonly atMs: number | null;
}

/** The server's view of a workflow, which needs no worker. */
export interface ServerView {
  /** Its pending activities; none once it has ended. */
  readonly pending: readonly PendingActivityView[];
  /** Since when the workflow has needed a worker, in ms since the epoch; null if it needs none, or a worker has begun. */
  readonly untakenSinceMs: number | null;
  readonly status: WorkflowExecutionStatusName;
  readonly closedAt: Date | undefined;
  readonly runId: string;
}

export async function serverView(handle: WorkflowHandle): Promise<ServerView> {
  const { raw, status, closeTime, runId } = await handle.describe();
  const untakenSinceMs = untakenSince(raw.pendingWorkflowTask);
  const pending = await readPendingActivities(raw, payloadsIn(handle));
  return { pending, untakenSinceMs, status: status.name, closedAt: closeTime, runId };
}

type WorkflowDescription = Awaited<ReturnType<WorkflowHandle['describe']>>;
type WorkflowExecutionStatusName = WorkflowDescription['status']['name'];

/** A value of temporal.api.enums.v1.PendingActivityState and PendingWorkflowTaskState: an attempt runs. */
const STARTED = 2;

const untakenSince = (task: WorkflowDescription['raw']['pendingWorkflowTask']): number | null =>
  task && task.state !== STARTED ? toEpochMs(task.originalScheduledTime ?? task.scheduledTime) : null;

const readPendingActivities = (raw: WorkflowDescription['raw'], read: ReadPayload): Promise<PendingActivityView[]> =>
  Promise.all((raw.pendingActivities ?? []).map((activity) => readPendingActivity(activity, read)));

type PendingActivity = NonNullable<WorkflowDescription['raw']['pendingActivities']>[number];

async function readPendingActivity(activity: PendingActivity, read: ReadPayload): Promise<PendingActivityView> {
  const { activityType, heartbeatDetails, lastFailure, attempt, state, nextAttemptScheduleTime: next } = activity;
  const id = activity.activityId ?? '';
  const atMs = Math.max(
    ...[activity.lastHeartbeatTime, activity.lastAttemptCompleteTime].map((at) => toEpochMs(at) ?? 0),
  );
  const heartbeat = await read<unknown>(heartbeatDetails?.payloads?.[0], id);
  const { since = 0 } = (heartbeat ?? {}) as { since?: number };
  const waits = lastFailure?.applicationFailureInfo?.type === STILL_WAITING;
  return {
    id,
    activity: activityType?.name ?? '',
    stage: state === STARTED ? 'runs' : waits ? 'waits' : 'tries',
    heartbeat,
    failure: waits ? null : (lastFailure?.message ?? null),
    nextMs: toEpochMs(next),
    attempt: looksSince(attempt ?? 1, since),
    atMs: atMs > 0 ? atMs : null,
  };
}

type Timestamp = PendingActivity['lastHeartbeatTime'];

const toEpochMs = (at: Timestamp): number | null =>
  at ? Number(at.seconds ?? 0) * 1_000 + Math.ceil((at.nanos ?? 0) / 1e6) : null;

type LiveDeploy = Omit<DeployStatus, 'webUi'>;

/**
 * A deploy's status with the present results of its activities: counts while updating, verdicts while baking, an outage
 * and its end.
 */
export function mergeDeploy(status: LiveDeploy, pending: readonly PendingActivityView[]): LiveDeploy {
  const known = { ...status, paused: status.paused && withNow(status.paused, pending) };
  return pending.reduce((merged, { activity, heartbeat, failure, attempt }) => {
    const seen = heartbeat as Partial<UpdateUnitCounts & { rows: readonly HealthRow[]; waits: TurnWait }> | undefined;
    const { units, totals } = seen ?? {};
    const counted = activity === 'followUpdates' && units && totals ? withUnits(merged, { units, totals }) : merged;
    const shown = seen?.waits ? withTurn(counted, seen.waits) : counted;
    const judged = activity === 'watchHealth' && seen?.rows ? { ...shown, health: seen.rows } : shown;
    // The state of the dependency that caused a pause is shown with the pause.
    return failure === null || known.paused?.now
      ? judged
      : { ...judged, summary: `${judged.summary}; attempt ${attempt} of ${activity}: ${failure}` };
  }, known);
}

/** A pause by a dependency, with its present state: the workflow itself learns nothing until the dependency answers. */
export function withNow(paused: Pause, pending: readonly PendingActivityView[]): Pause {
  const tried = pending.find(({ failure }) => failure !== null);
  const seen = pending.find(({ activity, heartbeat }) => activity === 'watchHealth' && heartbeat !== undefined);
  const one = tried ?? seen;
  if (!continuesByItself(paused) || one === undefined) return paused;
  const { verdict = 'errored', rows: [worst] = [] } = (seen?.heartbeat ?? {}) as Partial<HealthSeen>;
  const now = {
    answers: tried === undefined && verdict !== 'errored',
    said: tried?.failure ?? [verdict, worst?.reason ?? ''].filter((text) => text !== '').join(': '),
    at: one.atMs === null ? null : formatTime(one.atMs),
    nextAt: one.nextMs === null ? null : formatTime(one.nextMs),
  };
  return { ...paused, now };
}

/** The needed parts of a health watch's heartbeat. */
interface HealthSeen {
  readonly verdict: Verdict;
  readonly rows: readonly HealthRow[];
}

const withTurn = (status: LiveDeploy, { reason, ahead }: TurnWait): LiveDeploy => ({
  ...{ ...status, ahead },
  summary: `${status.summary}; ${reason}`,
});

function withUnits(status: LiveDeploy, counted: UpdateUnitCounts): LiveDeploy {
  if (status.state === 'reverting' && status.revert)
    return { ...status, revert: withRevertCounts(status.revert, counted) };
  return {
    ...status,
    phases: status.phases.map((phase) => (phase.state === 'running' ? { ...phase, ...counted } : phase)),
  };
}

/** An action's view with the progress that its service reported last. */
export function mergeAction(view: ActionView, pending: readonly PendingActivityView[]): ActionView {
  const mine = pending.find(({ heartbeat }) => (heartbeat as { action?: string } | undefined)?.action === view.name);
  if (view.state !== 'running' || mine === undefined) return view;
  const {
    progress = null,
    message = null,
    url = null,
  } = mine.heartbeat as Partial<Pick<ActionView, 'progress' | 'message' | 'url'>>;
  return { ...view, progress, message: mine.failure ?? message, url };
}
