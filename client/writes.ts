import { isGrpcServiceError } from '@temporalio/client';
import { formatDuration } from '../domain/text';
import { rootCause } from '../domain/rootCause';
import type { Temporal } from './connection';
import { GRPC } from './grpcStatus';
import { OF_WORKFLOWS } from './readiness';

/** Temporal has written it down by then, unless it cannot. */
export const WRITTEN_WITHIN_MS = 8_000;

/**
 * Temporal writes the row of a task queue when it takes it up, and lets go of one that was quiet for five minutes
 * (matching.maxTaskQueueIdleTime): a queue that has rested for ten makes it write. Within its time a name is in memory for all
 * callers, so another server of Conveyor, or more frequent questions, cause no more writes.
 */
const NAME_FOR_MS = 15_000;
const QUEUE_NAMES = 40;

/**
 * Why a Temporal server that answers stores nothing; undefined where it stores. Starts no workflow, so that no list shows anything of it.
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
 * A queue that is in memory is described by then, without a write. If it is not, Temporal is silent or throttles this namespace: the client tries
 * again what is throttled, until its time is over.
 */
const KNOWN_WITHIN_MS = 2_000;

/** The answer of a server that could not write. That it refuses or throttles says nothing of that. */
const UNSTORED: readonly number[] = [GRPC.DEADLINE_EXCEEDED, GRPC.UNAVAILABLE, GRPC.INTERNAL, GRPC.UNKNOWN];

/** After no word at all it is known only where a task queue that is in memory was described. */
export const maybeUnstored = (error: unknown): boolean => UNSTORED.includes(grpcCode(error) ?? -1);

export const isDeadline = (error: unknown): boolean => grpcCode(error) === GRPC.DEADLINE_EXCEEDED;

/** The code of an error from gRPC, or one that the client wraps. */
const grpcCode = (error: unknown): number | undefined =>
  [error, error instanceof Error ? error.cause : undefined].find(isGrpcServiceError)?.code;

/** How the SDK words a deadline says nothing more. */
export const whyUnwritten = (error: unknown): string =>
  isDeadline(error) ? `no word of it within ${formatDuration(WRITTEN_WITHIN_MS)}` : rootCause(error);
