import { WithStartWorkflowOperation, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Landing, LandRequest } from '../domain/config/landing';
import { conveyorError } from '../domain/errors';
import { workflowIds } from '../domain/ids';
import type { landing } from '../workflows/landing';
import { translate, type Temporal } from './connection';
import { isPolled } from './readiness';

export interface LandingPlace {
  readonly repository: string;
  /** Where the workers that land poll. */
  readonly taskQueue: string;
  readonly heartbeatTimeoutMs: number;
}

/**
 * Has a change land, on the landing strip of its repository, which is there from then on; resolves once it has, or is not to. Asked twice
 * it lands once. Any error that it throws is worth another try: no worker polls, Temporal is gone, or too many wait.
 */
export async function landChange(
  temporal: Temporal,
  { repository, taskQueue, heartbeatTimeoutMs }: LandingPlace,
  request: LandRequest,
): Promise<Landing> {
  const { client, address } = temporal;
  const id = workflowIds.landing(repository);
  const noWorker = () => conveyorError('no-worker', { id, unpolled: taskQueue });
  try {
    // Requests without a worker would pile up, and a workflow takes few at once.
    if (!(await isPolled(temporal, taskQueue))) throw noWorker();
    return await client.workflow.executeUpdateWithStart<typeof landing, Landing, [LandRequest]>('land', {
      startWorkflowOperation: new WithStartWorkflowOperation<typeof landing>('landing', {
        ...{ workflowId: id, taskQueue, workflowIdConflictPolicy: 'USE_EXISTING' },
        args: [{ repository, heartbeatTimeoutMs }],
        staticSummary: `landing strip of ${repository}`,
      }),
      args: [request],
    });
  } catch (error) {
    throw turnedAway(error) ?? translate(error, { id, address, notFound: noWorker, refused: noWorker });
  }
}

/** By the landing strip itself, in its words: its line is full, or is emptied for a new history. */
function turnedAway(error: unknown): ApplicationFailure | undefined {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === 'landing-refused' ? cause : undefined;
}
