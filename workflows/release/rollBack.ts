import { getExternalWorkflowHandle } from '@temporalio/workflow';
import { workflowIds } from '../../domain/ids';
import { getFailureMessage } from '../deploy/calls';
import { rollBackSignal } from '../messages';
import type { ReleaseSession } from './session';

/**
 * A revert of a release undoes its successful deploys as if it had ended. The pipeline is asked at once, even while other parts of the
 * release run. It is asked once more at the end if another deploy has succeeded since.
 */
export async function rollBackSucceeded(run: ReleaseSession): Promise<void> {
  const { ending } = run.control;
  const succeeded = run.record.deploys.filter(({ result }) => result.outcome === 'succeeded').length;
  if (!ending?.revert || succeeded <= run.askedToUndo) return;
  const settled = run.unsettled();
  const { input } = run;
  const { revert: _, ...asked } = ending;
  run.askedToUndo = succeeded;
  run.log('rollback-asked', 'a deploy had succeeded when the revert came: the pipeline is asked for a rollback');
  await getExternalWorkflowHandle(workflowIds.pipeline(input.spec.pipeline))
    .signal(rollBackSignal, { of: input.number, ...asked, settled })
    .catch((error: unknown) => {
      run.askedToUndo = 0;
      run.log('not-rolled-back', `the pipeline could not be reached: ${getFailureMessage(error)}`);
    });
}
