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
  /** The time until it is asked again; ms. */
  readonly intervalMs: number;
}

/** The heartbeat, so that the next look is about the same release. */
interface WaitSeen extends Pick<ActionSeen, 'action' | 'progress' | 'message'> {
  readonly release: number | null;
}

export type WaitForActivities = ReturnType<typeof createWaitForActivities>;

export function createWaitForActivities({ client }: { client: Client }) {
  return {
    /**
     * Asks another pipeline once. While it must wait, it fails and gives the time of the next try. The wait is a timer of the server,
     * which takes neither a worker's time nor room in the history, for any duration.
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

/** The answer of a pipeline; null if it does not exist, was never applied, or a stranger started a workflow under its id. */
export async function pipelineKnows<T>(client: Client, pipeline: string): Promise<T | null> {
  try {
    return await client.workflow.getHandle(workflowIds.pipeline(pipeline)).query<T | null>('pipeline');
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || neverRan(error)) return null;
    throw error;
  }
}
