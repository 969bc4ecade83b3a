import { isGrpcServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { conveyorError } from '../domain/errors';
import { workflowOfRun } from '../domain/ids';
import type { LookNow } from './api';
import { GRPC } from './grpcStatus';
import { serverView, type PendingActivityView } from './live';
import type { Workflows } from './workflows';

/**
 * Polls the run of an action service at once: between two looks its activity waits in the server, which can end that
 * wait without a history event. Failing looks keep their own pace, so that this never hides failures.
 * @throws `temporal-unreachable`
 */
export async function lookNow(workflows: Workflows, runId: string): Promise<LookNow> {
  const workflowId = workflowOfRun(runId);
  if (workflowId === undefined) return 'nobody';
  const { client, namespace } = workflows.temporal;
  const { workflowService } = client;
  const call = async (): Promise<LookNow> => {
    const { pending } = await serverView(client.workflow.getHandle(workflowId));
    const { how, id } = follower(pending, runId);
    if (how === 'looks') await workflowService.resetActivity({ namespace, execution: { workflowId }, id });
    return how;
  };
  const notFound = () => conveyorError('internal', { detail: `${workflowId} is gone` });
  return workflows.withWording(runId, () => call().catch(lookFailure), { notFound });
}

function follower(
  pending: readonly PendingActivityView[],
  runId: string,
): { readonly how: LookNow; readonly id?: string } {
  for (const { id, activity, stage, heartbeat } of pending) {
    if (activity !== 'runAction') continue;
    const seen = heartbeat as { readonly run?: string } | undefined;
    // An activity that has seen nothing yet may be starting this run.
    if (stage === 'runs' && (seen === undefined || seen.run === runId)) return { how: 'busy' };
    if (stage === 'waits' && seen?.run === runId) return { how: 'looks', id };
  }
  return { how: 'nobody' };
}

function lookFailure(error: unknown): LookNow {
  if (error instanceof WorkflowNotFoundError) return 'nobody';
  if (isGrpcServiceError(error) && error.code === GRPC.NOT_FOUND) return 'nobody';
  if (isGrpcServiceError(error) && error.code === GRPC.UNIMPLEMENTED) return 'unsupported';
  throw error;
}
