import { ApplicationFailure } from '@temporalio/common';
import { QueryNotRegisteredError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Guest } from '../domain/mutex';

/** The running canaries on the service of a lock. @throws lock-silent when the lock does not answer in time; whoever needs to know asks again. */
export type ReadGuests = (lockId: string) => Promise<readonly Guest[]>;

const ANSWER_MS = 5_000;
/** Locks that a worker remembers: as many as deploys may bake at once. */
const KEPT_LOCKS = 10_000;

/** What a lock said, and how long its history was then. */
interface Said {
  readonly runId: string;
  readonly length: number;
  readonly guests: readonly Guest[];
}

/**
 * Every look at health asks, and nearly always there are none. A lock changes only by an event of its history, so while that is as
 * long as it was when the lock was last asked, the server answers alone: no task, no worker, no replay.
 */
export function createGuestReader(client: Client): ReadGuests {
  const kept = new Map<string, Said>();
  const keep = (lockId: string, said: Said): void => {
    kept.delete(lockId);
    kept.set(lockId, said);
    const [oldest = ''] = kept.keys();
    if (kept.size > KEPT_LOCKS) kept.delete(oldest);
  };
  const read = async (lockId: string): Promise<readonly Guest[]> => {
    const handle = client.workflow.getHandle(lockId);
    const { runId, historyLength: length, raw } = await handle.describe();
    const before = kept.get(lockId);
    if (before?.runId === runId && before.length === length) return before.guests;
    const guests = await handle.query<readonly Guest[]>('guests');
    // Signals that come during a task are in the history only after it.
    if (!raw.pendingWorkflowTask) keep(lockId, { runId, length, guests });
    return guests;
  };
  return (lockId) =>
    client
      .withAbortSignal(AbortSignal.timeout(ANSWER_MS), () => read(lockId))
      .catch((error: unknown) => unread(lockId, error));
}

/** Nobody uses a service whose lock is not there, or is of a time before there were guests. */
function unread(lockId: string, error: unknown): readonly Guest[] {
  if (error instanceof WorkflowNotFoundError || error instanceof QueryNotRegisteredError) return [];
  const why = error instanceof Error ? error.message : String(error);
  const message = `waiting for ${lockId}, which does not say whose canaries run: ${why}`;
  throw ApplicationFailure.retryable(message, 'lock-silent');
}
