import { isGrpcServiceError } from '@temporalio/client';
import { formatDuration } from '../domain/text';
import { rootCause } from '../domain/rootCause';
import type { Temporal } from './connection';
import { GRPC } from './grpcStatus';
import { OF_WORKFLOWS } from './readiness';

/** Temporal has stored it by then, unless it cannot. */
export const WRITTEN_WITHIN_MS = 8_000;

/**
 * Temporal writes the row of a task queue when it loads the queue, and unloads it after five idle minutes
 * (matching.maxTaskQueueIdleTime): a queue idle for ten minutes makes it write. Until then the queue is in memory for
 * all callers, so another Conveyor server, or more frequent checks, cause no more writes.
 */
const NAME_FOR_MS = 15_000;
const QUEUE_NAMES = 40;

/**
 * Why a Temporal server answers but stores nothing; undefined if it stores. Starts no workflow, so no list shows it.
 * @throws an error that leaves the state unknown, such as a refusal
 */
export async function whyNothingIsStored(
  { client, namespace }: Pick<Temporal, 'client' | 'namespace'>,
  taskQueue: string,
  nowMs: number,
): Promise<string | undefined> {
  const rested = `${taskQueue}-writes-${Math.floor(nowMs / NAME_FOR_MS) % QUEUE_NAMES}`;
  const describe = (name: string, withinMs: number): Promise<unknown> =>
    client.withDeadline(Date.now() + withinMs, () =>
      client.workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType: OF_WORKFLOWS }),
    );
  try {
    await describe(rested, WRITTEN_WITHIN_MS);
    return undefined;
  } catch (error) {
    if (!maybeUnstored(error)) throw error;
    await describe(taskQueue, KNOWN_WITHIN_MS);
    return whyUnwritten(error);
  }
}

/**
 * A queue in memory is described within this time, without a write. Otherwise Temporal is silent or throttles this
 * namespace: the client retries throttled calls until its time is over.
 */
const KNOWN_WITHIN_MS = 2_000;

/** The errors of a server that could not write. A refusal or throttling does not show this. */
const UNSTORED: readonly number[] = [GRPC.DEADLINE_EXCEEDED, GRPC.UNAVAILABLE, GRPC.INTERNAL, GRPC.UNKNOWN];

/** Without any answer, it is known only if a task queue in memory could be described. */
export const maybeUnstored = (error: unknown): boolean => UNSTORED.includes(grpcCode(error) ?? -1);

export const isDeadline = (error: unknown): boolean => grpcCode(error) === GRPC.DEADLINE_EXCEEDED;

/** The code of an error from gRPC, or one that the client wraps. */
const grpcCode = (error: unknown): number | undefined =>
  [error, error instanceof Error ? error.cause : undefined].find(isGrpcServiceError)?.code;

/** Replaces the SDK's message for a deadline, which explains nothing. */
export const whyUnwritten = (error: unknown): string =>
  isDeadline(error) ? `no confirmation within ${formatDuration(WRITTEN_WITHIN_MS)}` : rootCause(error);
