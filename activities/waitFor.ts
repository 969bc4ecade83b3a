import { Context } from '@temporalio/activity';
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { workflowIds } from '../domain/ids';
import { neverRan } from '../domain/queryRefusals';
import { judgeWait, type KnownReleases, type Wait } from '../domain/release/waitFor';
import type { ActionEnd, ActionSeen } from './actionService';
import { stillWaiting } from './failure';

export interface WaitRun extends Pick<Wait, 'pipeline' | 'artifact'> {
  /** The name of the action, for `status`. */
  readonly action: string;
  /** How long until it is asked again. */
  readonly intervalMs: number;
}

/** Heartbeaten, so that the next asking is about the same release. */
interface WaitSeen extends Pick<ActionSeen, 'action' | 'progress' | 'message'> {
  readonly release: number | null;
}

export type WaitForActivities = ReturnType<typeof createWaitForActivities>;

export function createWaitForActivities({ client }: { client: Client }) {
  return {
    /**
     * Asks another pipeline once. While it must wait, it fails and says when to be tried again: the waiting is a timer of the
     * server, which takes neither a worker's time nor room in the history, however long it lasts.
     */
    waitForRelease: async ({ action, pipeline, artifact, intervalMs }: WaitRun): Promise<ActionEnd> => {
      const context = Context.current();
      const before = context.info.heartbeatDetails as WaitSeen | undefined;
      const known = await pipelineKnows<KnownReleases>(client, pipeline);
      const { kind, reason, release } = judgeWait(known, { pipeline, artifact, release: before?.release ?? null });
      if (kind !== 'waiting') return { succeeded: kind === 'reached', message: reason, outputs: [] };
      context.heartbeat({ action, progress: null, message: reason, release } satisfies WaitSeen);
      throw stillWaiting(reason, intervalMs);
    },
  };
}

/** What a pipeline knows; null when there is no such pipeline, it was never applied, or a stranger started a workflow under its id. */
export async function pipelineKnows<T>(client: Client, pipeline: string): Promise<T | null> {
  try {
    return await client.workflow.getHandle(workflowIds.pipeline(pipeline)).query<T | null>('pipeline');
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || neverRan(error)) return null;
    throw error;
  }
}
