import { WithStartWorkflowOperation, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Landing, LandRequest } from '../configerator/domain/landing';
import { conveyorError } from '../domain/errors';
import { workflowIds } from '../domain/ids';
import type { landing } from '../workflows/landing';
import { translate, type Temporal } from './connection';
import { isPolled } from './readiness';
import { untilTaken } from './retaken';

export interface LandingPlace {
  readonly repository: string;
  /** The task queue of the workers that land. */
  readonly taskQueue: string;
  readonly heartbeatTimeoutMs: number;
}

/**
 * Lands a change through the landing workflow of its repository, which it starts if necessary; resolves once it has
 * landed or was refused. A repeated call lands it once. Any error is worth a retry: no worker polls, Temporal is down,
 * or too many changes wait.
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
    // Requests would pile up without a worker, and a workflow accepts few at once.
    if (!(await isPolled(temporal, taskQueue))) throw noWorker();
    return await untilTaken((updateId) =>
      client.workflow.executeUpdateWithStart<typeof landing, Landing, [LandRequest]>('land', {
        startWorkflowOperation: new WithStartWorkflowOperation<typeof landing>('landing', {
          ...{ workflowId: id, taskQueue, workflowIdConflictPolicy: 'USE_EXISTING' },
          args: [{ repository, heartbeatTimeoutMs }],
          staticSummary: `landing strip of ${repository}`,
        }),
        ...{ args: [request], updateId },
      }),
    );
  } catch (error) {
    throw findLandingRefusal(error) ?? translate(error, { id, address, notFound: noWorker, refused: noWorker });
  }
}

/** A refusal by the landing workflow itself: its queue is full, or is being drained to continue as new. */
function findLandingRefusal(error: unknown): ApplicationFailure | undefined {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === 'landing-refused' ? cause : undefined;
}
