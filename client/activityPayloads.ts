import type { WorkflowHandle } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { decodeOptionalSinglePayload } from '@temporalio/common/lib/internal-non-workflow';

/** Reads what an activity was given, reports or returned; undefined for nothing, and for what cannot be read. */
export type ReadPayload = <T>(payload: Payload | null | undefined, activityId: string) => Promise<T | undefined>;

/**
 * For the activities of one workflow. Temporal returns payloads as they came, and whoever reaches it may send a heartbeat or an end in
 * the name of an activity: what is not sealed for that activity (client/seal.ts) reads as nothing here, as in its workflow.
 */
export function payloadsIn({ client, workflowId }: Pick<WorkflowHandle, 'client' | 'workflowId'>): ReadPayload {
  return async <T>(payload: Payload | null | undefined, activityId: string) => {
    if (!payload) return undefined;
    const { namespace, loadedDataConverter } = client.options;
    const context = { type: 'activity', namespace, workflowId, activityId, isLocal: false } as const;
    const read = decodeOptionalSinglePayload<T>(loadedDataConverter, payload, context);
    return (await read.catch(() => undefined)) ?? undefined;
  };
}
