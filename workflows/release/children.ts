import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { ParentClosePolicy, startChild } from '@temporalio/workflow';
import { pickChildArtifacts, hasChildren } from '../../domain/children/handOn';
import { releaseId, workflowIds } from '../../domain/ids';
import { releaseState } from '../../domain/release/state';
import type { fanOut } from '../fanOut';
import { tagPairs } from '../tags';
import type { ReleaseSession } from './session';

/**
 * Starts the fan-out to the children of a release that has succeeded; other releases have none. It outlives the release, which
 * succeeds by its own actions. Resolves once the fan-out exists, because the release must not close before.
 */
export async function startChildren({ input, record, policy }: ReleaseSession): Promise<void> {
  const { spec, number, settings } = input;
  if (spec.children === undefined || !hasChildren(input) || releaseState(record, spec) !== 'succeeded') return;
  const parent = releaseId(spec.pipeline, number);
  try {
    await startChild<typeof fanOut>('fanOut', {
      workflowId: workflowIds.children(spec.pipeline, number),
      args: [
        {
          ...{ pipeline: spec.pipeline, number, children: spec.children, policy, settings },
          artifacts: pickChildArtifacts(input, record),
          startedBy: input.trigger.startedBy ?? input.trigger.actor,
        },
      ],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      staticSummary: `children of ${parent}`,
      typedSearchAttributes: tagPairs({
        ConveyorPipeline: spec.pipeline,
        ConveyorRelease: parent,
        ConveyorState: 'running',
        ConveyorOwners: spec.owners,
      }),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
