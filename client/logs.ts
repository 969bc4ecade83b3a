import type { Client, WorkflowHandle } from '@temporalio/client';
import { conveyorError } from '../domain/errors';
import { workflowIds } from '../domain/ids';
import { requireAction } from '../domain/target';
import { payloadsIn, type ReadPayload } from './activityPayloads';
import type { ActionLogs, RunLog } from './api';
import { serverView, type PendingActivityView } from './live';
import type { Workflows } from './workflows';

/**
 * The output of an action's scripts, and the pages of its services: of one attempt, by default the newest. For a
 * deploy, the output around its phases. The log of an ended run is in the history of its workflow, that of a running
 * one in its heartbeats.
 */
export async function actionLogs(workflows: Workflows, text: string, wanted?: number): Promise<ActionLogs> {
  const { pipeline, number, action } = requireAction(text);
  const { actions } = await workflows.release(pipeline, number);
  const view = actions.find(({ name }) => name === action);
  if (view === undefined) {
    const names = actions.map(({ name }) => name).join(', ');
    throw conveyorError('invalid-id', { text, expected: `an action of ${pipeline}/${number}, which has ${names}` });
  }
  const { attempt: newest, endedAt, deploy } = view;
  const attempt = wanted ?? newest;
  if (attempt > newest)
    throw conveyorError('usage', { text: `${text} has no attempt ${attempt}`, hint: `its newest is ${newest}` });
  const ended = endedAt !== null || attempt < newest;
  const ofDeploy = workflowIds.deploy(pipeline, number, action, attempt);
  const workflowId = deploy === null ? workflowIds.release(pipeline, number) : ofDeploy;
  const isMeant = (run: string): boolean =>
    deploy === null ? run.endsWith(`${pipeline}/${number}/${action}/${attempt}`) : run.startsWith(`${ofDeploy}/`);
  const notFound = () => conveyorError('unknown-deploy', { id: text });
  const runs = await workflows.withWording(text, () => readRunLogs(workflows.temporal.client, workflowId, isMeant), {
    notFound,
  });
  return { id: text, attempt, ended, runs };
}

/** An activity that runs something, as shown by its input and its heartbeats. */
const ACTIVITIES: ReadonlySet<string> = new Set(['runScript', 'runAction']);

type Events = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>;

/** In the order of their start; a retried run appears once. */
async function readRunLogs(client: Client, workflowId: string, isMeant: (run: string) => boolean): Promise<RunLog[]> {
  // Read in this order, so that a run that ends in between is in the history.
  const handle = client.workflow.getHandle(workflowId);
  const { pending } = await serverView(handle);
  const histories = await fetchHistories(client, workflowId);
  const runs = new Map<string, RunLog>();
  for (const events of histories)
    for (const run of await runsIn(events, pending, payloadsIn(handle))) if (isMeant(run.run)) runs.set(run.run, run);
  return [...runs.values()];
}

/** The number of newest histories read: a deploy of many phases has several, each of which continues the one before. */
const MAX_HISTORIES = 20;

async function fetchHistories(client: Client, workflowId: string): Promise<Events[]> {
  const histories: Events[] = [];
  let before: string | undefined;
  do {
    const { events } = await client.workflow.getHandle(workflowId, before).fetchHistory();
    histories.unshift(events ?? []);
    before = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
  } while (before !== undefined && histories.length < MAX_HISTORIES);
  return histories;
}

async function runsIn(events: Events, pending: readonly PendingActivityView[], read: ReadPayload): Promise<RunLog[]> {
  const ends = await activityEnds(events, read);
  const runs: RunLog[] = [];
  for (const { eventId, activityTaskScheduledEventAttributes: scheduled, userMetadata } of events) {
    if (!ACTIVITIES.has(scheduled?.activityType?.name ?? '')) continue;
    const id = scheduled?.activityId ?? '';
    const { runId: run = '' } = (await read<{ runId?: string }>(scheduled?.input?.payloads?.[0], id)) ?? {};
    const title = (await read<string>(userMetadata?.summary, id)) ?? run;
    runs.push({ run, title, ...NO_OUTPUT, ...(ends.get(String(eventId)) ?? readRunProgress(run, pending)) });
  }
  return runs;
}

const NO_OUTPUT = { message: null, url: null, log: null } as const;

type RunEnd = Partial<Omit<RunLog, 'run' | 'title'>> & Pick<RunLog, 'state'>;

/** The last message of a run. */
type RunOutput = Partial<Pick<RunLog, 'message' | 'url' | 'log'>>;

function readRunProgress(run: string, pending: readonly PendingActivityView[]): RunEnd {
  const mine = pending.find(({ heartbeat }) => (heartbeat as { run?: string } | undefined)?.run === run);
  const { message = null, url = null, log = null } = (mine?.heartbeat ?? {}) as RunOutput;
  return { state: 'running', message: mine?.failure ?? message, url, log };
}

/** How activities ended, by the event that scheduled them. */
async function activityEnds(events: Events, read: ReadPayload): Promise<ReadonlyMap<string, RunEnd>> {
  const ids = new Map(
    events.map(({ eventId, activityTaskScheduledEventAttributes: scheduled }) => [
      String(eventId),
      scheduled?.activityId ?? '',
    ]),
  );
  const ends = new Map<string, RunEnd>();
  for (const event of events) {
    const { activityTaskCompletedEventAttributes: done, activityTaskFailedEventAttributes: failed } = event;
    const { activityTaskCanceledEventAttributes: cancelled, activityTaskTimedOutEventAttributes: late } = event;
    const of = done ?? failed ?? cancelled ?? late;
    if (!of) continue;
    const scheduledBy = String(of.scheduledEventId);
    const payload = (done?.result ?? cancelled?.details)?.payloads?.[0];
    const output = (await read<RunOutput & { succeeded?: boolean }>(payload, ids.get(scheduledBy) ?? '')) ?? {};
    const state = done ? (output.succeeded ? 'succeeded' : 'failed') : cancelled ? 'cancelled' : 'failed';
    const message = output.message ?? failed?.failure?.message ?? null;
    ends.set(scheduledBy, { state, message, url: output.url ?? null, log: output.log ?? null });
  }
  return ends;
}
