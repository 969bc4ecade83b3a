import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import { formatIdentity } from '../../domain/artifact';
import { releaseId, workflowIds } from '../../domain/ids';
import { queueMeasure } from '../../domain/metrics';
import { buildReleaseInput } from '../../domain/pipeline/releaseInput';
import { markReleaseRunning, type ActiveRelease, type PipelineState } from '../../domain/pipeline/state';
import { newRelease } from '../../domain/release/state';
import { releaseSummary } from '../../domain/release/view';
import { isUrgent } from '../../domain/release/urgent';
import { formatSummary } from '../../domain/markdown';
import { listReleaseLabels } from '../../domain/where/words';
import type { release } from '../release';
import { measure } from '../measure';
import { summaryMemo } from '../summary';
import { tagPairs } from '../tags';
import type { PipelineRun } from './run';

/** Starts a release as a child that outlives this run of the pipeline, or adopts one that was started already. */
export async function startRelease(run: PipelineRun, queued: ActiveRelease): Promise<void> {
  const { state } = run;
  if (state === null) return;
  const { pipeline } = state.spec;
  const id = releaseId(pipeline, queued.number);
  const input = buildReleaseInput(state, queued);
  // Recorded before the server has it, so that a release on its way cannot be taken from the queue.
  run.decided((current) => markReleaseRunning(current, queued.number));
  measure(queueMeasure(Date.now() - Date.parse(queued.createdAt)));
  const facts = [...queued.artifacts.map(formatIdentity), `${queued.trigger.kind} by ${queued.trigger.actor}`];
  try {
    const child = await startChild<typeof release>('release', {
      workflowId: workflowIds.release(pipeline, queued.number),
      args: [input],
      ...summaryMemo(releaseSummary(newRelease(input, Date.now()), input)),
      parentClosePolicy: ParentClosePolicy.ABANDON,
      ...pickReleasePriority(state, queued),
      staticSummary: formatSummary(`${id}: ${facts.join(', ')}`),
      typedSearchAttributes: tagPairs({
        ConveyorPipeline: pipeline,
        ConveyorRelease: id,
        ConveyorState: 'running',
        ConveyorOwners: state.spec.owners,
        ConveyorLabels: listReleaseLabels(queued.trigger, queued.artifacts),
      }),
    });
    run.follow(queued.number, child.result());
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  run.catchUp(queued.number, state);
}

/** Rollbacks and emergencies come first (in Temporal, 1 is the highest of 5). */
function pickReleasePriority({ spec }: PipelineState, { trigger }: ActiveRelease) {
  const priorityKey = isUrgent(trigger) ? 1 : PRIORITIES[spec.priority];
  return { priority: { priorityKey, fairnessKey: spec.pipeline } };
}

const PRIORITIES = { critical: 2, high: 3, normal: 4, low: 5 } as const;
