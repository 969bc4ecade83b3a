import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import { GRPC } from './grpcStatus';

/**
 * Sends an update until Temporal keeps it. The server forgets the updates of a failed workflow task, for example if the
 * task ends or continues the workflow while another event arrives: the caller then sees a refused revert of which no
 * worker knows. @param send sends it with an id by which the server recognises repeats
 */
export async function untilTaken<T>(send: (updateId: string) => Promise<T>): Promise<T> {
  const updateId = randomUUID();
  for (const delayMs of DELAYS_MS) {
    try {
      return await send(updateId);
    } catch (error) {
      if (!isForgotten(error)) throw error;
      await wait(delayMs);
    }
  }
  return send(updateId);
}

/** The server reschedules the failed task at once. */
const DELAYS_MS: readonly number[] = [10, 50, 250, 1_000];

/** WorkflowNotReady in service/history/workflow/update/errors.go of the server, which has no separate code in gRPC. */
function isForgotten(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return [error, cause].some(
    (one) =>
      isGrpcServiceError(one) &&
      one.code === GRPC.FAILED_PRECONDITION &&
      one.details.includes('unexpected workflow task failure'),
  );
}
