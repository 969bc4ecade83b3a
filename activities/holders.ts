import { QueryNotRegisteredError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Guest, LockRequest } from '../domain/mutex';
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

    /** A canary comes, or has more updates of its own; joining again changes nothing. */
    joinLock: async (lockId: string, guest: Guest, settings: Settings): Promise<void> => {
      await client.workflow.signalWithStart('lock', {
        workflowId: lockId,
        taskQueue,
        args: [settings],
        signal: 'join-lock',
        signalArgs: [guest],
        staticSummary: `one release at a time on ${lockId.slice('lock/'.length)}`,
      });
    },

    guestsOf: (lockId: string): Promise<readonly Guest[]> => readGuests(client, lockId),

    /** Those of the workflows that have not ended. */
    stillRunning: async (workflowIds: readonly string[]): Promise<string[]> => {
      const states = await Promise.all(workflowIds.map(async (id) => ((await isRunning(client, id)) ? [id] : [])));
      return states.flat();
    },
  };
}

/** The running canaries on a service. Nobody uses a service whose lock is not there, or is of a time before there were guests. */
export async function readGuests(client: Client, lockId: string): Promise<readonly Guest[]> {
  try {
    return await client.workflow.getHandle(lockId).query<readonly Guest[]>('guests');
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || error instanceof QueryNotRegisteredError) return [];
    throw error;
  }
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
