import type { Client } from '@temporalio/client';
import { workflowIds } from '../domain/ids';
import { recallResults, type RecalledResults, type Recollection } from '../domain/release/rerun';
import type { PipelineSpec } from '../domain/spec/pipeline';

export type RecallActivities = ReturnType<typeof createRecallActivities>;

/** The work that a rerun cannot do itself: find the results of the release that it runs again. */
export const createRecallActivities = ({ client }: { readonly client: Client }) => ({
  /**
   * The results of a release that can be carried over into one with these actions. @throws while no worker answers for the release.
   */
  recall: async (pipeline: string, number: number, actions: PipelineSpec['actions']): Promise<RecalledResults> => {
    const handle = client.workflow.getHandle(workflowIds.release(pipeline, number));
    return recallResults(actions, await handle.query<Recollection>('recollection'));
  },
});
