import { WorkflowNotFoundError } from '@temporalio/client';
import { conveyorError } from '../domain/errors';
import { SIGN_OUT_KEPT_MS } from '../domain/sessions/session';
import type { signOut, SignOutInput } from '../workflows/signOut';
import { getFirstLine, type Temporal } from './connection';

/** The sign-outs of all servers: each is a workflow, found by its id. */
export interface SignOuts {
  /** The newest run of the id; null if there is none. @throws ConveyorError `temporal-unreachable` */
  find(workflowId: string): Promise<string | null>;
  /** Stores a sign-out, also if there was one before. @returns its run @throws ConveyorError `temporal-unreachable` */
  record(workflowId: string, summary: string): Promise<string>;
}

/** A page waits for it. */
const FOUND_WITHIN_MS = 2_000;
const RECORDED_WITHIN_MS = 8_000;
/** Temporal ends it even if no worker ever picks it up. */
const SIGN_OUT_OVER_MS = 2 * SIGN_OUT_KEPT_MS;

export const temporalSignOuts = (temporal: Temporal, taskQueue: string): SignOuts => ({
  find: (workflowId) =>
    askForSignOut(temporal, FOUND_WITHIN_MS, async ({ workflow }) => {
      try {
        return (await workflow.getHandle(workflowId).describe()).runId;
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return null;
        throw error;
      }
    }),
  record: (workflowId, summary) =>
    askForSignOut(temporal, RECORDED_WITHIN_MS, async ({ workflow }) => {
      const started = await workflow.start<typeof signOut>('signOut', {
        ...{ workflowId, taskQueue, workflowExecutionTimeout: SIGN_OUT_OVER_MS, staticSummary: summary },
        // A new run ends the sessions that began after the last one.
        ...{ workflowIdReusePolicy: 'ALLOW_DUPLICATE', workflowIdConflictPolicy: 'TERMINATE_EXISTING' },
        args: [{ keptMs: SIGN_OUT_KEPT_MS }] satisfies [SignOutInput],
      });
      return started.firstExecutionRunId;
    }),
});

async function askForSignOut<T>(
  { client, address }: Temporal,
  withinMs: number,
  ask: (client: Temporal['client']) => Promise<T>,
): Promise<T> {
  try {
    return await client.withDeadline(Date.now() + withinMs, () => ask(client));
  } catch (error) {
    throw conveyorError('temporal-unreachable', { address, detail: getFirstLine(error) });
  }
}
