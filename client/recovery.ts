import { WorkflowNotFoundError, type Client, type WorkflowHandle } from '@temporalio/client';
import { decodeOptionalSinglePayload } from '@temporalio/common/lib/internal-non-workflow';
import { workflowIds } from '../domain/ids';
import { findNewestRelease } from '../domain/offers/moved';
import { isOpenStatus } from '../domain/openStatus';
import type { RecoveredFacts } from '../domain/pipeline/document';
import { pickIdentity } from '../domain/artifact';
import type { ActiveRelease, PipelineState } from '../domain/pipeline/state';
import type { ReleaseInput } from '../domain/release/state';
import { formatTime } from '../domain/text';
import { WORKER_TIMEOUT_MS, isUnanswered } from './connection';
import { findBoard } from './offers';
import { newestReleases } from './visibility';

/** The remains of a pipeline whose workflow has ended. */
export interface PriorRecords {
  /** Its records: complete, or as at the beginning of its last history; null if none are left. */
  readonly state: PipelineState | null;
  readonly found: RecoveredFacts;
}

/**
 * The records with which a new workflow of the pipeline continues; undefined while one runs, which has its own records, and if there never was one. A
 * running workflow without records was started by a caller that was then refused; it receives these records. Reads only. @throws the client's error
 * if no worker or server answers, because existing records must not be taken for lost
 */
export async function findPriorRecords(client: Client, pipeline: string): Promise<PriorRecords | undefined> {
  const workflowId = workflowIds.pipeline(pipeline);
  const newest = await stateOfRun(client, workflowId);
  if (newest !== null && (await isWorkflowRunning(client, workflowId))) return undefined;
  const state = newest ?? (await earlierState(client, workflowId));
  const found = await findMissingReleases(client, pipeline, state);
  return state === null && found.nextNumber === 1 ? undefined : { state, found };
}

/**
 * After the pipeline has ended, strangers can start a workflow with this id. Such a run has no records, so those of the
 * run before it count.
 */
async function earlierState(client: Client, workflowId: string): Promise<PipelineState | null> {
  const query = `WorkflowId = '${workflowId}' AND ExecutionStatus NOT IN ('Running', 'ContinuedAsNew')`;
  for await (const { runId } of client.workflow.list({ query })) {
    const state = await stateOfRun(client, workflowId, runId);
    if (state !== null) return state;
  }
  return null;
}

/** Reads the records of a run; if it cannot be replayed, the records that its last history began with. */
async function stateOfRun(client: Client, workflowId: string, runId?: string): Promise<PipelineState | null> {
  const handle = client.workflow.getHandle(workflowId, runId);
  try {
    const answer = await client.withDeadline(Date.now() + WORKER_TIMEOUT_MS, () =>
      handle.query<PipelineState | null | undefined>('pipeline'),
    );
    return answer ?? null;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    if (isUnanswered(error) && !(await isUnanswerable(handle))) throw error;
    return workflowInput<PipelineState>(client, workflowId, runId);
  }
}

/**
 * No worker can ever answer for a workflow that none has processed, or whose last task failed: only its input is left.
 */
async function isUnanswerable(handle: WorkflowHandle): Promise<boolean> {
  const { events } = await handle.fetchHistory();
  const last = events?.findLast(
    ({ workflowTaskCompletedEventAttributes: completed, workflowTaskFailedEventAttributes: failed }) =>
      completed ?? (failed && !OF_THE_SERVER.includes(failed.cause ?? 0)),
  );
  return !last?.workflowTaskCompletedEventAttributes;
}

/**
 * Values of temporal.api.enums.v1.WorkflowTaskFailedCause for which no worker is to blame: the server drops a task
 * because of new events, a closed or reset workflow, or a failover of its cluster.
 */
const OF_THE_SERVER: readonly number[] = [1, 13, 17, 18, 20, 31];

export async function isWorkflowRunning(client: Client, workflowId: string): Promise<boolean> {
  try {
    return isOpenStatus((await client.workflow.getHandle(workflowId).describe()).status.name);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/**
 * Releases missing from the records: visibility lists them, and newer ones are probed one by one. If a stranger
 * started a workflow under such an id, its number is taken, but it is not a release.
 */
async function findMissingReleases(
  client: Client,
  pipeline: string,
  state: PipelineState | null,
): Promise<RecoveredFacts> {
  const listed = (await newestReleases(client, pipeline)).filter((number) => number <= MAX_NUMBER);
  const offering = await findOfferingRelease(client, pipeline);
  let nextNumber = Math.max(state?.nextNumber ?? 1, offering + 1, ...listed.map((number) => number + 1));
  const late: number[] = [];
  while (await workflowExists(client, workflowIds.release(pipeline, nextNumber))) late.push(nextNumber++);
  const known = new Set([...(state?.active ?? []), ...(state?.history ?? [])].map(({ number }) => number));
  const missed = [...listed, ...late].filter((number) => !known.has(number) && number >= (state?.nextNumber ?? 1));
  const releases = await Promise.all(missed.map((number) => recoverRelease(client, pipeline, number)));
  return { nextNumber, releases: releases.flatMap((release) => release ?? []) };
}

/** The newest release that the offers of a pipeline know: users may keep them for longer than Temporal keeps the releases. */
async function findOfferingRelease(client: Client, pipeline: string): Promise<number> {
  const board = await client
    .withDeadline(Date.now() + WORKER_TIMEOUT_MS, () => findBoard(client, pipeline))
    .catch((error: unknown) => (isUnanswered(error) ? Promise.reject(error as Error) : null));
  const newest = board === null ? 0 : findNewestRelease(board);
  return newest <= MAX_NUMBER ? newest : 0;
}

/** No pipeline ever counts this far. A larger number in a stranger's id would leave no numbers for later releases. */
const MAX_NUMBER = 1e9;

async function recoverRelease(client: Client, pipeline: string, number: number): Promise<ActiveRelease | null> {
  const workflowId = workflowIds.release(pipeline, number);
  const input = await workflowInput<ReleaseInput>(client, workflowId).catch(() => null);
  if (input === null) return null;
  const { startTime } = await client.workflow.getHandle(workflowId).describe();
  const { artifacts, trigger, reportTo, emergency, followOn, rerunOf, place } = input;
  return {
    ...{
      number,
      artifacts: artifacts.map(pickIdentity),
      trigger,
      state: 'running',
      createdAt: formatTime(startTime.getTime()),
    },
    ...(reportTo === undefined ? {} : { reportTo }),
    ...(emergency === undefined ? {} : { emergency }),
    ...(followOn === undefined ? {} : { followOn }),
    ...(rerunOf === undefined ? {} : { rerunOf }),
    ...(place === undefined ? {} : { place }),
  };
}

async function workflowExists(client: Client, workflowId: string): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowId).describe();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Reads a workflow's input, or the input of its continued run, from its first event. Null if a stranger started it. */
export async function workflowInput<T>(client: Client, workflowId: string, runId?: string): Promise<T | null> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, ...(runId === undefined ? {} : { runId }) },
    maximumPageSize: 1,
  });
  const payload = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  const { namespace, loadedDataConverter } = client.options;
  // Temporal returns payloads unchanged: one not sealed for this workflow (client/seal.ts) decodes to undefined here,
  // too.
  const context = { type: 'workflow', namespace, workflowId } as const;
  return payload ? ((await decodeOptionalSinglePayload<T>(loadedDataConverter, payload, context)) ?? null) : null;
}
