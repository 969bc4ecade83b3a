import { ApplicationFailure } from '@temporalio/common';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { CANARIES_MEMO, type Canary } from '../domain/mutex';
import { hasNoSuchQuery } from '../domain/queryRefusals';

/**
 * The running canaries on the service of a lock. @throws lock-silent if the lock does not answer in time; a caller that needs the answer asks again.
 */
export type ReadCanaries = (lockId: string, timeoutMs?: number) => Promise<readonly Canary[]>;

const LOCK_TIMEOUT_MS = 5_000;

/**
 * Every look at health asks for the canaries, and there are almost never any. So a lock keeps their number in its memo, and the server can
 * answer alone: no task, no worker, no replay. While a task of the lock is under way, the memo may be older than that task.
 */
export function createCanaryReader(client: Client): ReadCanaries {
  const read = async (lockId: string): Promise<readonly Canary[]> => {
    const handle = client.workflow.getHandle(lockId);
    const { memo, raw } = await handle.describe();
    if (memo?.[CANARIES_MEMO] === 0 && !raw.pendingWorkflowTask) return [];
    return handle.query<readonly Canary[]>('guests');
  };
  return (lockId, timeoutMs = LOCK_TIMEOUT_MS) =>
    client
      .withAbortSignal(AbortSignal.timeout(timeoutMs), () => read(lockId))
      .catch((error: unknown) => withoutAnswer(lockId, error));
}

/** If the lock does not exist, or is older than canaries, the service has none. */
function withoutAnswer(lockId: string, error: unknown): readonly Canary[] {
  if (error instanceof WorkflowNotFoundError || hasNoSuchQuery(error)) return [];
  const why = error instanceof Error ? error.message : String(error);
  const message = `waiting for ${lockId}, which does not say whose canaries run: ${why}`;
  throw ApplicationFailure.retryable(message, 'lock-silent');
}
