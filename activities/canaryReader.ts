import { ApplicationFailure } from '@temporalio/common';
import { QueryNotRegisteredError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Canary } from '../domain/mutex';

/** The running canaries on the service of a lock. @throws lock-silent when the lock does not answer in time; whoever needs to know asks again. */
export type ReadCanaries = (lockId: string) => Promise<readonly Canary[]>;

const LOCK_TIMEOUT_MS = 5_000;
/** Locks that a worker remembers: as many as deploys may bake at once. */
const KEPT_LOCKS = 10_000;

/** What a lock said, and how long its history was then. */
interface LockAnswer {
  readonly runId: string;
  readonly length: number;
  readonly canaries: readonly Canary[];
}

/**
 * Every look at health asks, and nearly always there are none. A lock changes only by an event of its history, so while that is as
 * long as it was when the lock was last asked, the server answers alone: no task, no worker, no replay.
 */
export function createCanaryReader(client: Client): ReadCanaries {
  const kept = new Map<string, LockAnswer>();
  const keep = (lockId: string, answer: LockAnswer): void => {
    kept.delete(lockId);
    kept.set(lockId, answer);
    const [oldest = ''] = kept.keys();
    if (kept.size > KEPT_LOCKS) kept.delete(oldest);
  };
  const read = async (lockId: string): Promise<readonly Canary[]> => {
    const handle = client.workflow.getHandle(lockId);
    const { runId, historyLength: length, raw } = await handle.describe();
    const before = kept.get(lockId);
    if (before?.runId === runId && before.length === length) return before.canaries;
    const canaries = await handle.query<readonly Canary[]>('guests');
    // Signals that come during a task are in the history only after it.
    if (!raw.pendingWorkflowTask) keep(lockId, { runId, length, canaries });
    return canaries;
  };
  return (lockId) =>
    client
      .withAbortSignal(AbortSignal.timeout(LOCK_TIMEOUT_MS), () => read(lockId))
      .catch((error: unknown) => withoutAnswer(lockId, error));
}

/** Nobody uses a service whose lock is not there, or is from before there were canaries. */
function withoutAnswer(lockId: string, error: unknown): readonly Canary[] {
  if (error instanceof WorkflowNotFoundError || error instanceof QueryNotRegisteredError) return [];
  const why = error instanceof Error ? error.message : String(error);
  const message = `waiting for ${lockId}, which does not say whose canaries run: ${why}`;
  throw ApplicationFailure.retryable(message, 'lock-silent');
}
