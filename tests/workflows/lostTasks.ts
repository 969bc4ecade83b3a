import { setTimeout as wait } from 'node:timers/promises';
import type { Client, WorkflowExecutionDescription, WorkflowHandle } from '@temporalio/client';
import { SIDE_QUEUES, sideQueue } from '../../domain/taskQueues';
import type { ConveyorWorker } from '../../workers/createWorker';
import { openExecutions } from './openWorkflows';

/** An activity that was scheduled and has not ended. */
export interface Pending {
  readonly runId: string;
  readonly activityId: string;
  readonly type: string;
  readonly taskQueue: string;
  /** PendingActivityState; null: the server does not know of it. */
  readonly state: number | null;
  /** How long its present attempt has been due, in ms of virtual time; undefined if the server does not report it. */
  readonly dueForMs?: number | undefined;
}

/** The tasks that a worker has seen, and the queues that it could serve. */
export interface Seen {
  readonly taskQueue: string;
  readonly isFree: boolean;
  /** Whether an attempt of an activity of a run reached the worker. */
  received(runId: string, activityId: string): boolean;
  /** Whether an attempt is at the worker now. */
  runs(runId: string, activityId: string): boolean;
}

/**
 * Whether the server has lost an activity: it has forgotten it without a report to its workflow; or the activity was handed out, or waits, and the
 * worker never received it although it polls that queue and has slots. An activity that reached the worker once may wait for its next attempt. That
 * proves nothing, unless the attempt is long overdue, or the activity is to be cancelled: then nothing remains to wait for.
 */
export function isLost({ runId, activityId, taskQueue, state, dueForMs = 0 }: Pending, seen: Seen): boolean {
  if (state === null) return true;
  const polled = [seen.taskQueue, ...SIDE_QUEUES.map((side) => sideQueue(seen.taskQueue, side))];
  if (!seen.isFree || !polled.includes(taskQueue)) return false;
  if (state === CANCEL_REQUESTED || dueForMs > LONG_DUE_MS) return !seen.runs(runId, activityId);
  return (state === SCHEDULED || state === STARTED) && !seen.received(runId, activityId);
}

/** The tasks that the server has lost, in readable words; looks twice, as a task that is due now will be taken soon. */
export async function lostTasks(
  client: Client,
  worker: Pick<ConveyorWorker, 'getStatus'>,
  seen: Omit<Seen, 'isFree'>,
  /** Virtual time. */
  now: () => Promise<number>,
): Promise<string[]> {
  const look = async (): Promise<string[]> => {
    const { runState, numInFlightActivities } = worker.getStatus();
    const isFree = runState === 'RUNNING' && numInFlightActivities < SLOTS;
    const [open, nowMs] = await Promise.all([openRuns(client), now()]);
    const activities = (await Promise.all(open.map((run) => pendingActivities(client, run, nowMs)))).flat();
    const lost = activities.filter((one) => isLost(one, { ...seen, isFree })).map(nameOf);
    return [
      ...lost,
      ...open.filter((run) => hasStuckTask(run, nowMs)).map(({ runId }) => `a workflow task of run ${runId}`),
    ];
  };
  const first = await look();
  if (first.length === 0) return [];
  await wait(SURE_MS);
  const second = await look();
  return first.filter((one) => second.includes(one));
}

const nameOf = ({ runId, type, activityId }: Pending): string => `${type} (activity ${activityId} of run ${runId})`;

interface Run {
  readonly workflowId: string;
  readonly runId: string;
  /** Its history. */
  readonly events: readonly HistoryEvent[];
}

async function openRuns(client: Client): Promise<Run[]> {
  const found = (await openExecutions(client)).map(async ({ execution }) => {
    const request = { namespace: 'default', execution };
    const { history } = await client.workflowService.getWorkflowExecutionHistory(request);
    const { workflowId, runId } = { ...execution };
    return { workflowId: workflowId ?? '', runId: runId ?? '', events: history?.events ?? [] };
  });
  return Promise.all(found);
}

/**
 * Whether the server has forgotten a workflow task: it must be over after its timeout, whatever a worker does. It
 * happens to a task that cancels a timer which fires during the task.
 */
export function isStuck(lastEventType: number, ageMs: number): boolean {
  return lastEventType === TASK_STARTED && ageMs > TASK_TIMEOUT_MS;
}

function hasStuckTask({ events }: Run, nowMs: number): boolean {
  const { eventType, eventTime } = { ...events.at(-1) };
  return isStuck(eventType ?? 0, nowMs - inMs(eventTime));
}

async function pendingActivities(
  client: Client,
  { workflowId, runId, events }: Run,
  nowMs: number,
): Promise<Pending[]> {
  const request = { namespace: 'default', execution: { workflowId, runId } };
  const { pendingActivities: pending } = await client.workflowService.describeWorkflowExecution(request);
  return openActivities(events).map(({ activityId, activityType, taskQueue }) => {
    const known = pending.find((one) => one.activityId === activityId);
    return {
      ...{ runId, activityId: activityId ?? '', type: activityType?.name ?? '', taskQueue: taskQueue?.name ?? '' },
      ...{ state: known?.state ?? null, dueForMs: known && dueForMs(known, nowMs) },
    };
  });
}

/** For an attempt that began, the time since then; for one that waits, the time since the delay requested by the previous attempt was over. */
function dueForMs({ lastStartedTime, lastAttemptCompleteTime, lastFailure }: Known, nowMs: number): number | undefined {
  if (!lastStartedTime) return undefined;
  const [startedMs, completedMs] = [inMs(lastStartedTime), inMs(lastAttemptCompleteTime)];
  const delay = lastFailure?.applicationFailureInfo?.nextRetryDelay;
  if (completedMs < startedMs) return nowMs - startedMs;
  return delay ? nowMs - completedMs - inMs(delay) : undefined;
}

const inMs = (time: Proto | null | undefined): number =>
  Number(time?.seconds ?? 0) * 1_000 + Number(time?.nanos ?? 0) / 1e6;

/** A time or a duration, as protobuf has it. */
interface Proto {
  readonly seconds?: unknown;
  readonly nanos?: number | null;
}

type Known = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>[number];

/** Open activities, from the history. */
function openActivities(events: readonly HistoryEvent[]) {
  const ended = events.map(
    (event) =>
      event.activityTaskCompletedEventAttributes ??
      event.activityTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes ??
      event.activityTaskCanceledEventAttributes,
  );
  const over = new Set(ended.map((end) => String(end?.scheduledEventId)));
  return events
    .filter(({ eventId }) => !over.has(String(eventId)))
    .flatMap((event) => event.activityTaskScheduledEventAttributes ?? []);
}

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

/** EVENT_TYPE_WORKFLOW_TASK_STARTED */
const TASK_STARTED = 6;
/** Twice what Temporal gives a worker for a workflow task. */
const TASK_TIMEOUT_MS = 20_000;
/** PENDING_ACTIVITY_STATE_SCHEDULED, …_STARTED, …_CANCEL_REQUESTED */
const [SCHEDULED, STARTED, CANCEL_REQUESTED] = [1, 2, 3];
/** Longer than any delay in virtual time. */
const LONG_DUE_MS = 600_000;
/** For the smallest task queue: how many activities a worker runs at once (settings/registry.ts). */
const SLOTS = 20;
/** Longer than a worker needs to take a due task. */
const SURE_MS = 3_000;
