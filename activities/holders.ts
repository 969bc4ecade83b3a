import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { LockRequest } from '../domain/mutex';
import type { Settings } from '../domain/settings';

export type HolderActivities = ReturnType<typeof createHolderActivities>;

/** What a workflow cannot do itself: start a lock with a request, and see whether others still run. */
export function createHolderActivities({ client, taskQueue }: { client: Client; taskQueue: string }) {
  return {
    /** Asking again with the same requester changes nothing. */
    requestLock: async (lockId: string, asked: LockRequest, settings: Settings): Promise<void> => {
      await client.workflow.signalWithStart('lock', {
        workflowId: lockId,
        taskQueue,
        args: [settings],
        signal: 'request-lock',
        signalArgs: [asked],
        staticSummary: `one release at a time on ${lockId.slice('lock/'.length)}`,
      });
    },

    /** Those of the workflows that have not ended. */
    stillRunning: async (workflowIds: readonly string[]): Promise<string[]> => {
      const states = await Promise.all(workflowIds.map(async (id) => ((await isRunning(client, id)) ? [id] : [])));
      return states.flat();
    },
  };
}

async function isRunning(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
