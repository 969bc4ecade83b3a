import type { Client } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow';

/** The first argument of a workflow, from its history, which needs no worker. @throws if Temporal does not know the workflow */
export async function readInput(client: Client, workflowId: string): Promise<unknown> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId },
    maximumPageSize: 1,
  });
  const payloads = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads;
  const { loadedDataConverter, namespace } = client.options;
  const [input] = await decodeArrayFromPayloads(loadedDataConverter, payloads, {
    type: 'workflow',
    namespace,
    workflowId,
  });
  return input;
}

/** As `readInput`; undefined if Temporal does not know the workflow. */
export async function findInput(client: Client, workflowId: string): Promise<unknown> {
  try {
    return await readInput(client, workflowId);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** gRPC NOT_FOUND. */
export const isGone = (error: unknown): boolean => (error as { readonly code?: unknown } | null)?.code === 5;
