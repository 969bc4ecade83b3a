import { WorkflowNotFoundError, type Client, type WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { workflowIds } from '../domain/ids';
import { isOpenStatus } from '../domain/openStatus';
import type { Found } from '../domain/pipeline/document';
import { identified } from '../domain/artifact';
import type { ActiveRelease, PipelineState } from '../domain/pipeline/state';
import type { ReleaseInput } from '../domain/release/state';
import { formatTime } from '../domain/text';
import { WORKER_TIMEOUT_MS, isUnanswered } from './connection';
import { newestReleases } from './visibility';

/** What is left of a pipeline whose workflow has ended. */
export interface Left {
  /** Its records: whole, or as its last history began with them; null where nothing is left of them. */
  readonly state: PipelineState | null;
  readonly found: Found;
}

/**
 * What another workflow of the pipeline continues with; undefined while one runs, which knows better, and where there never was one.
 * One that runs and knows nothing was started by whoever was then refused: it receives what it continues with. Nothing here changes
 * anything.
 * @throws what the client throws where no worker, or no server, answers: what there is must not be taken for lost.
 */
export async function leftOf(client: Client, pipeline: string): Promise<Left | undefined> {
  const state = await lastState(client, pipeline);
  if (state !== null && (await isWorkflowRunning(client, workflowIds.pipeline(pipeline)))) return undefined;
  const found = await foundOf(client, pipeline, state);
  return state === null && found.nextNumber === 1 ? undefined : { state, found };
}

/** The records of a pipeline. Of a workflow that cannot be replayed those that its last history began with. */
async function lastState(client: Client, pipeline: string): Promise<PipelineState | null> {
  const handle = client.workflow.getHandle(workflowIds.pipeline(pipeline));
  try {
    return await client.withDeadline(Date.now() + WORKER_TIMEOUT_MS, () =>
      handle.query<PipelineState | null>('pipeline'),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    if (isUnanswered(error) && !(await isUnanswerable(handle))) throw error;
    return workflowInput<PipelineState>(client, workflowIds.pipeline(pipeline));
  }
}

/** No worker will ever say what a workflow came to that none has worked on, which is what it began with, or whose last try failed. */
async function isUnanswerable(handle: WorkflowHandle): Promise<boolean> {
  const { events } = await handle.fetchHistory();
  const last = events?.findLast(
    ({ workflowTaskCompletedEventAttributes: completed, workflowTaskFailedEventAttributes: failed }) =>
      completed ?? (failed && !OF_THE_SERVER.includes(failed.cause ?? 0)),
  );
  return !last?.workflowTaskCompletedEventAttributes;
}

/**
 * Of temporal.api.enums.v1.WorkflowTaskFailedCause: the server drops a task because news came meanwhile, the workflow was closed or reset, or
 * its cluster failed over. Its worker has failed at nothing.
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

/** Releases that the records do not know: visibility lists them, and what it does not list yet is asked for one by one. */
async function foundOf(client: Client, pipeline: string, state: PipelineState | null): Promise<Found> {
  const listed = await newestReleases(client, pipeline);
  let nextNumber = Math.max(state?.nextNumber ?? 1, ...listed.map((number) => number + 1));
  const late: number[] = [];
  while (await workflowExists(client, workflowIds.release(pipeline, nextNumber))) late.push(nextNumber++);
  const known = new Set([...(state?.active ?? []), ...(state?.history ?? [])].map(({ number }) => number));
  const missed = [...listed, ...late].filter((number) => !known.has(number) && number >= (state?.nextNumber ?? 1));
  const releases = await Promise.all(missed.map((number) => begunRelease(client, pipeline, number)));
  return { nextNumber, releases: releases.flatMap((release) => release ?? []) };
}

async function begunRelease(client: Client, pipeline: string, number: number): Promise<ActiveRelease | null> {
  const workflowId = workflowIds.release(pipeline, number);
  const input = await workflowInput<ReleaseInput>(client, workflowId).catch(() => null);
  if (input === null) return null;
  const { startTime } = await client.workflow.getHandle(workflowId).describe();
  const { artifacts, trigger, reportTo, emergency, followOn, rerunOf, place } = input;
  return {
    ...{
      number,
      artifacts: artifacts.map(identified),
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

/** What a workflow was started with, or continued as new with; it is in its first event. */
export async function workflowInput<T>(client: Client, workflowId: string, runId?: string): Promise<T | null> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, ...(runId === undefined ? {} : { runId }) },
    maximumPageSize: 1,
  });
  const payload = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  return payload ? defaultPayloadConverter.fromPayload<T | null>(payload) : null;
}
