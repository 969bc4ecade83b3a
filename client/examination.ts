import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { WorkflowFailedError, type Client, type WorkflowHandle } from '@temporalio/client';
import type {
  Examination,
  ExaminationEnd,
  ExaminationOrder,
  ExaminationView,
  ExtensionLook,
  ListingLook,
  Poller,
} from '../domain/examination';
import { aheadBetween } from '../domain/clocks';
import { workflowIds } from '../domain/ids';
import { rootCause } from '../domain/rootCause';
import { queueBacklogs } from './backlogs';
import { lookAtBuilds } from './builds';
import { connectTemporal, isUnanswered, WORKER_TIMEOUT_MS, type ConnectionOptions, type Temporal } from './connection';
import { isRecent, pollingSeen, workersAt, type QueueWorkers } from './readiness';
import { isDeadline, maybeUnstored, whyUnwritten, WRITTEN_WITHIN_MS } from './writes';

const EXTENSION_WITHIN_MS = 3_000;
const ASKED_WITHIN_MS = 3_000;
/** A later answer has no reader; Temporal ends it also where no worker ever takes it up. */
const OVER_MS = 60_000;

/** Over a connection of its own. @throws ConveyorError `temporal-unreachable` */
export async function examineWork(taskQueue: string, options: ConnectionOptions): Promise<ExaminationView> {
  const temporal = await connectTemporal(options);
  try {
    return await examine(temporal, taskQueue);
  } finally {
    await temporal.connection.close();
  }
}

/** Starts a workflow that does nothing but ask extensions, and waits for its end. */
export async function examine(temporal: Temporal, taskQueue: string): Promise<ExaminationView> {
  const { client } = temporal;
  const looked = client.withDeadline(Date.now() + WRITTEN_WITHIN_MS, () => workersAt(temporal, taskQueue));
  // A server that cannot write does not say who polls either: it lets a task queue only to one that it has written down.
  const seen = looked.catch(() => null);
  const fromMs = Date.now();
  const started = await startExamination(client, taskQueue).then(
    (handle) => ({ handle }),
    (error: unknown) => ({ error }),
  );
  const begun = 'error' in started ? null : { handle: started.handle, fromMs, untilMs: Date.now() };
  const clockAheadMs = begun && (await clockAhead(client, begun).catch(() => null));
  const workers = await seen;
  // Temporal says when workers polled by its own clock.
  const theirNowMs = Date.now() + (clockAheadMs ?? 0);
  const { isPolled, ...polling } = workers === null ? UNSEEN : pollingSeen(workers, undefined, theirNowMs);
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

/** An examination that Temporal began, at a time of its own between two of ours. */
interface Begun {
  readonly handle: WorkflowHandle;
  readonly fromMs: number;
  readonly untilMs: number;
}

type Beside = Pick<ExaminationView, 'backlogs' | 'attributes' | 'builds' | 'listing'>;

/** Further questions, each by itself: what Temporal does not say hides nothing else. */
async function lookBeside(
  temporal: Temporal,
  taskQueue: string,
  begun: Begun | null,
  theirNowMs: number,
): Promise<Beside> {
  const { client } = temporal;
  const listing = begun === null ? null : lookAtLists(client, begun);
  const [backlogs, attributes, builds] = await client.withDeadline(Date.now() + ASKED_WITHIN_MS, () =>
    Promise.all([
      queueBacklogs(temporal, taskQueue).catch(() => []),
      registeredAttributes(temporal).catch(() => null),
      lookAtBuilds(temporal, taskQueue, theirNowMs).catch(() => null),
    ]),
  );
  return { backlogs, attributes, builds, listing: await listing };
}

/** An index of Elasticsearch is refreshed every second, unless it is set otherwise. */
const LISTED_WITHIN_MS = 5_000;
const LISTED_AGAIN_MS = 250;

async function lookAtLists(client: Client, { handle, untilMs }: Begun): Promise<ListingLook> {
  const query = `WorkflowId = '${handle.workflowId}'`;
  try {
    return await client.withDeadline(Date.now() + LISTED_WITHIN_MS + ASKED_WITHIN_MS, async () => {
      for (;;) {
        const isLate = Date.now() - untilMs > LISTED_WITHIN_MS;
        if ((await client.workflow.count(query)).count > 0) return { kind: 'listed' };
        if (isLate) return { kind: 'late', withinMs: LISTED_WITHIN_MS };
        await wait(LISTED_AGAIN_MS);
      }
    });
  } catch (error) {
    return { kind: 'silent', reason: rootCause(error) };
  }
}

async function registeredAttributes({ connection, namespace }: Temporal): Promise<Record<string, number>> {
  return (await connection.operatorService.listSearchAttributes({ namespace })).customAttributes;
}

/** It may be waited for all the same. */
const UNSEEN = { isPolled: true, lastPollAt: null };

async function clockAhead(client: Client, { handle, fromMs, untilMs }: Begun): Promise<number> {
  const { startTime } = await client.withDeadline(Date.now() + ASKED_WITHIN_MS, () => handle.describe());
  return aheadBetween(startTime.getTime(), fromMs, untilMs);
}

/** A server that throttles us gives no word either, also of a task queue that it has in memory. */
function endUnbegun(error: unknown, isQueueDescribed: boolean): ExaminationEnd {
  const isUnstored = maybeUnstored(error) && (isQueueDescribed || !isDeadline(error));
  return isUnstored
    ? { kind: 'unwritten', reason: whyUnwritten(error) }
    : { kind: 'unbegun', reason: rootCause(error) };
}

/** Any worker takes a look: so many reach each of a few workers. */
const clockLooks = 12;

const startExamination = (client: Client, taskQueue: string): Promise<WorkflowHandle> =>
  client.withDeadline(Date.now() + WRITTEN_WITHIN_MS, () =>
    client.workflow.start('examination', {
      ...{ workflowId: workflowIds.examination(randomUUID()), taskQueue, workflowExecutionTimeout: OVER_MS },
      args: [{ answerMs: EXTENSION_WITHIN_MS, clockLooks }] satisfies [ExaminationOrder],
      staticSummary: 'conveyor doctor asks whether workers and extensions answer',
    }),
  );

/** No worker polls, so that waiting for one is of no use. */
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
    const unused = await unusedPushTypes(client, extensions);
    return { kind: 'answered', tookMs, extensions, unused, ...(clocks && { clocks }) };
  } catch (error) {
    if (error instanceof WorkflowFailedError) return { kind: 'refused', reason: rootCause(error) };
    if (!isUnanswered(error)) throw error;
    const end = await howFar(client, handle);
    await endExamination(client, handle, 'it took too long');
    return end;
  }
}

/** Among those that do not answer: a configuration may list some that were never started. Where Temporal does not say, all count as used. */
async function unusedPushTypes(client: Client, extensions: readonly ExtensionLook[]): Promise<string[]> {
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

/** How far one came that has not ended in time, by its history. */
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
