import { isGrpcServiceError, type WorkflowExecutionDescription } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { conveyorError } from '../domain/errors';
import { workflowOfRun } from '../domain/ids';
import { STILL_WAITING } from '../domain/looks';
import type { LookNow } from './api';
import type { Workflows } from './workflows';

/**
 * Has whoever follows a run of an action service look at once: between two looks its activity waits in the server, which ends that
 * wait without an event in any history. Looks that fail keep their own pace, so that this never hides that they do.
 * @throws `temporal-unreachable`
 */
export async function lookNow(workflows: Workflows, runId: string): Promise<LookNow> {
  const workflowId = workflowOfRun(runId);
  if (workflowId === undefined) return 'nobody';
  const { client, namespace } = workflows.temporal;
  const { workflowService } = client;
  const call = async (): Promise<LookNow> => {
    const { pendingActivities } = await workflowService.describeWorkflowExecution({
      namespace,
      execution: { workflowId },
    });
    const { how, id } = follower(pendingActivities ?? [], runId);
    if (how === 'looks') await workflowService.resetActivity({ namespace, execution: { workflowId }, id });
    return how;
  };
  const notFound = () => conveyorError('internal', { detail: `${workflowId} is gone` });
  return workflows.asking(runId, () => call().catch(answered), { notFound });
}

type PendingActivities = NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>;

/** Of temporal.api.enums.v1.PendingActivityState: an attempt runs. */
const STARTED = 2;

function follower(pending: PendingActivities, runId: string): { readonly how: LookNow; readonly id?: string } {
  for (const { activityType, activityId, heartbeatDetails, lastFailure, state } of pending) {
    if (activityType?.name !== 'runAction') continue;
    const payload = heartbeatDetails?.payloads?.[0];
    const seen = payload ? defaultPayloadConverter.fromPayload<{ run?: string }>(payload) : undefined;
    // One that has seen nothing yet may be starting this run.
    if (state === STARTED && (seen === undefined || seen.run === runId)) return { how: 'busy' };
    const waits = lastFailure?.applicationFailureInfo?.type === STILL_WAITING;
    if (waits && seen?.run === runId && activityId) return { how: 'looks', id: activityId };
  }
  return { how: 'nobody' };
}

/** Of gRPC. */
const [NOT_FOUND, UNIMPLEMENTED] = [5, 12];

function answered(error: unknown): LookNow {
  if (isGrpcServiceError(error) && error.code === NOT_FOUND) return 'nobody';
  if (isGrpcServiceError(error) && error.code === UNIMPLEMENTED) return 'unsupported';
  throw error;
}
