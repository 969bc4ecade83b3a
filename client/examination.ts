import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { WorkflowFailedError, type Client, type WorkflowHandle } from '@temporalio/client';
import {
  LISTS_BEHIND_MS,
  type Examination,
  type ExaminationEnd,
  type ExaminationOrder,
  type ExaminationView,
  type ExtensionLook,
  type ListingLook,
  type Poller,
  type UnansweredQuestion,
} from '../domain/examination';
import { aheadBetween } from '../domain/clocks';
import { workflowIds } from '../domain/ids';
import { rootCause } from '../domain/rootCause';
import { queueBacklogs } from './backlogs';
import { lookAtBuilds } from './builds';
import { connectTemporal, isUnanswered, WORKER_TIMEOUT_MS, type ConnectionOptions, type Temporal } from './connection';
import { isRecent, judgePolling, workersAt, type QueueWorkers } from './readiness';
import { isDeadline, maybeUnstored, whyUnwritten, WRITTEN_WITHIN_MS } from './writes';

const EXTENSION_WITHIN_MS = 3_000;
/** Enough even on a busy machine: a call that times out would look like an empty queue. */
const ASKED_WITHIN_MS = 10_000;
/** No caller waits longer; then Temporal ends the workflow, even if no worker ever picks it up. */
const OVER_MS = 60_000;

/** Examines over its own connection. @throws ConveyorError `temporal-unreachable` */
export async function examineWork(taskQueue: string, options: ConnectionOptions): Promise<ExaminationView> {
  const temporal = await connectTemporal(options);
  try {
    return await examine(temporal, taskQueue);
  } finally {
    await temporal.connection.close();
  }
}

/** Starts a workflow that only calls extensions, and waits for its end. */
export async function examine(temporal: Temporal, taskQueue: string): Promise<ExaminationView> {
  const { client } = temporal;
  const looked = client.withDeadline(Date.now() + WRITTEN_WITHIN_MS, () => workersAt(temporal, taskQueue));
  // A server that cannot write does not report pollers either, because it must store the ownership of a task queue
  // first.
  const seen = looked.catch(() => null);
  const fromMs = Date.now();
  const started = await startExamination(client, taskQueue).then(
    (handle) => ({ handle }),
    (error: unknown) => ({ error }),
  );
  const begun = 'error' in started ? null : { handle: started.handle, fromMs, untilMs: Date.now() };
  const clockAheadMs = begun && (await clockAhead(client, begun).catch(() => null));
  const workers = await seen;
  // Temporal reports the times of polls by its own clock.
  const theirNowMs = Date.now() + (clockAheadMs ?? 0);
  const { isPolled, ...polling } = workers === null ? UNSEEN : judgePolling(workers, undefined, theirNowMs);
  const end =
    'error' in started
      ? endUnbegun(started.error, workers !== null)
      : isPolled
        ? await endOfExamination(client, started.handle)
        : await endUnpolled(client, started.handle);
  const beside = await lookBeside(temporal, taskQueue, begun, Date.now() + (clockAheadMs ?? 0));
  const { namespace } = temporal;
  return { taskQueue, ...polling, pollers: pollersSeen(workers, theirNowMs), end, namespace, clockAheadMs, ...beside };
}

const pollersSeen = (workers: QueueWorkers | null, nowMs: number): Poller[] =>
  (workers?.pollers ?? [])
    .filter(({ atMs }) => isRecent(atMs, nowMs))
    .map(({ identity, build, lastPollAt }) => ({ identity, build, lastPollAt }));

/** An examination that Temporal began: its own start time, and our times before and after. */
interface ExaminationRun {
  readonly handle: WorkflowHandle;
  readonly fromMs: number;
  readonly untilMs: number;
}

type ExaminationDetails = Pick<ExaminationView, 'backlogs' | 'attributes' | 'builds' | 'listing' | 'unanswered'>;

/** Further queries, each independent: one without an answer hides no other. */
async function lookBeside(
  temporal: Temporal,
  taskQueue: string,
  begun: ExaminationRun | null,
  theirNowMs: number,
): Promise<ExaminationDetails> {
  const { client } = temporal;
  const listing = begun === null ? null : lookAtLists(client, begun);
  const unanswered: UnansweredQuestion[] = [];
  const noteUnanswered = (subject: UnansweredQuestion['subject']) => (error: unknown) => {
    unanswered.push({ subject, reason: rootCause(error) });
    return null;
  };
  const [backlogs, attributes, builds] = await client.withDeadline(Date.now() + ASKED_WITHIN_MS, () =>
    Promise.all([
      queueBacklogs(temporal, taskQueue).catch(noteUnanswered('backlogs')),
      fetchRegisteredAttributes(temporal).catch(noteUnanswered('search attributes')),
      lookAtBuilds(temporal, taskQueue, theirNowMs).catch(noteUnanswered('builds')),
    ]),
  );
  const answers = { backlogs: backlogs ?? [], attributes, builds, listing: await listing };
  return unanswered.length === 0 ? answers : { ...answers, unanswered };
}

/** Elasticsearch refreshes an index every second by default. */
const LISTED_SOON_MS = 5_000;
const LISTED_AGAIN_MS = 250;

async function lookAtLists(client: Client, { handle, untilMs }: ExaminationRun): Promise<ListingLook> {
  const query = `WorkflowId = '${handle.workflowId}'`;
  try {
    return await client.withDeadline(Date.now() + LISTS_BEHIND_MS + ASKED_WITHIN_MS, async () => {
      for (let isLate = false; ;) {
        const waitedMs = Date.now() - untilMs;
        if ((await client.workflow.count(query)).count > 0)
          return isLate ? { kind: 'late', withinMs: LISTED_SOON_MS } : { kind: 'listed' };
        if (waitedMs > LISTS_BEHIND_MS) return { kind: 'late', withinMs: LISTS_BEHIND_MS };
        isLate = waitedMs > LISTED_SOON_MS;
        await wait(LISTED_AGAIN_MS);
      }
    });
  } catch (error) {
    return { kind: 'silent', reason: rootCause(error) };
  }
}

async function fetchRegisteredAttributes({ connection, namespace }: Temporal): Promise<Record<string, number>> {
  return (await connection.operatorService.listSearchAttributes({ namespace })).customAttributes;
}

/** The state is unknown, so the examination is awaited nevertheless. */
const UNSEEN = { isPolled: true, lastPollAt: null };

async function clockAhead(client: Client, { handle, fromMs, untilMs }: ExaminationRun): Promise<number> {
  const { startTime } = await client.withDeadline(Date.now() + ASKED_WITHIN_MS, () => handle.describe());
  return aheadBetween(startTime.getTime(), fromMs, untilMs);
}

/** A server that throttles us does not answer either, not even about a task queue in memory. */
function endUnbegun(error: unknown, isQueueDescribed: boolean): ExaminationEnd {
  const isUnstored = maybeUnstored(error) && (isQueueDescribed || !isDeadline(error));
  return isUnstored
    ? { kind: 'unwritten', reason: whyUnwritten(error) }
    : { kind: 'unbegun', reason: rootCause(error) };
}

/** Each look goes to any worker; this many reach each of a few workers. */
const clockLooks = 12;

const startExamination = (client: Client, taskQueue: string): Promise<WorkflowHandle> =>
  client.withDeadline(Date.now() + WRITTEN_WITHIN_MS, () =>
    client.workflow.start('examination', {
      ...{ workflowId: workflowIds.examination(randomUUID()), taskQueue, workflowExecutionTimeout: OVER_MS },
      args: [{ answerMs: EXTENSION_WITHIN_MS, clockLooks }] satisfies [ExaminationOrder],
      staticSummary: 'conveyor doctor asks whether workers and extensions answer',
    }),
  );

/** No worker polls, so waiting for one is pointless. */
async function endUnpolled(client: Client, handle: WorkflowHandle): Promise<ExaminationEnd> {
  await endExamination(client, handle, 'no worker polls');
  return { kind: 'unpolled' };
}

/** Temporal ends it soon in any case. */
const endExamination = (client: Client, handle: WorkflowHandle, why: string): Promise<unknown> =>
  client.withDeadline(Date.now() + WRITTEN_WITHIN_MS, () => handle.terminate(why)).catch(() => undefined);

async function endOfExamination(client: Client, handle: WorkflowHandle): Promise<ExaminationEnd> {
  const sinceMs = Date.now();
  try {
    const { extensions, clocks } = await client.withDeadline(
      sinceMs + WORKER_TIMEOUT_MS,
      () => handle.result() as Promise<Examination>,
    );
    const tookMs = Date.now() - sinceMs;
    const unused = await findUnusedPushTypes(client, extensions);
    return { kind: 'answered', tookMs, extensions, unused, ...(clocks && { clocks }) };
  } catch (error) {
    if (error instanceof WorkflowFailedError) return { kind: 'refused', reason: rootCause(error) };
    if (!isUnanswered(error)) throw error;
    const end = await howFar(client, handle);
    await endExamination(client, handle, 'it took too long');
    return end;
  }
}

/**
 * The silent push types that no deploy has used: a configuration may list some that were never started. If Temporal
 * does not answer, all count as used.
 */
async function findUnusedPushTypes(client: Client, extensions: readonly ExtensionLook[]): Promise<string[]> {
  const silent = extensions.filter(({ kind, trouble }) => kind === 'push-type' && trouble !== null);
  const unused = async ({ name }: ExtensionLook): Promise<string[]> => {
    const { count } = await client.workflow.count(`WorkflowType = 'deploy' AND ConveyorPushType = '${name}'`);
    return count === 0 ? [name] : [];
  };
  const counted = client.withDeadline(Date.now() + ASKED_WITHIN_MS, () => Promise.all(silent.map(unused)));
  return counted.then(
    (names) => names.flat(),
    () => [],
  );
}

/** How far an examination got that did not end in time, from its history. */
async function howFar(client: Client, handle: WorkflowHandle): Promise<ExaminationEnd> {
  const { events } = await client.withDeadline(Date.now() + WRITTEN_WITHIN_MS, () => handle.fetchHistory());
  const found = events ?? [];
  const failed = found.find((event) => event.workflowTaskFailedEventAttributes)?.workflowTaskFailedEventAttributes;
  if (failed) return { kind: 'refused', reason: failed.failure?.message ?? 'its task failed' };
  if (found.some((event) => event.workflowTaskCompletedEventAttributes))
    return { kind: 'stuck', withinMs: WORKER_TIMEOUT_MS };
  const taken = found.find((event) => event.workflowTaskStartedEventAttributes)?.workflowTaskStartedEventAttributes;
  return { kind: 'silent', withinMs: WORKER_TIMEOUT_MS, takenBy: taken?.identity || null };
}
