import { ApplicationFailure } from '@temporalio/common';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { CANARIES_MEMO, type Canary } from '../domain/mutex';
import { hasNoSuchQuery } from '../domain/queryRefusals';

/** The running canaries on the service of a lock. @throws lock-silent when the lock does not answer in time; whoever needs to know asks again. */
export type ReadCanaries = (lockId: string, timeoutMs?: number) => Promise<readonly Canary[]>;

const LOCK_TIMEOUT_MS = 5_000;

/**
 * Every look at health asks, and nearly always there are none. A lock keeps in its memo how many there are, so that the server answers
 * alone: no task, no worker, no replay. While a task of it is under way, the memo may be of before that.
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

/** Nobody uses a service whose lock is not there, or is from before there were canaries. */
function withoutAnswer(lockId: string, error: unknown): readonly Canary[] {
  if (error instanceof WorkflowNotFoundError || hasNoSuchQuery(error)) return [];
  const why = error instanceof Error ? error.message : String(error);
  const message = `waiting for ${lockId}, which does not say whose canaries run: ${why}`;
  throw ApplicationFailure.retryable(message, 'lock-silent');
}
