import type { WorkflowHandle } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { decodeOptionalSinglePayload } from '@temporalio/common/lib/internal-non-workflow';

/** Reads an input, heartbeat or result of an activity; undefined if missing or unreadable. */
export type ReadPayload = <T>(payload: Payload | null | undefined, activityId: string) => Promise<T | undefined>;

/**
 * A reader for the activities of one workflow. Anyone with access to Temporal can send a heartbeat or result in the
 * name of an activity, and Temporal returns it unchanged: a payload not sealed for that activity (client/seal.ts) reads
 * as undefined here, as in its workflow.
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
