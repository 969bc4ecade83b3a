import { ScheduleNotFoundError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { TicketRound } from '../domain/round';
import { FRESHNESS_ID } from '../../../domain/ids';
import type { Temporal } from '../../../client/connection';

/** The list of pipelines waits at most this long for their tickets. */
const TICKETS_MS = 5_000;

/**
 * The result of the last completed daily run, from the server; neither a worker nor the service of tickets is asked.
 * Null if there was none.
 */
export function lastTicketRound({ client }: Temporal): Promise<TicketRound | null> {
  return client.withDeadline(Date.now() + TICKETS_MS, async () => {
    for (const workflowId of (await recentRuns(client)).reverse()) {
      const handle = client.workflow.getHandle(workflowId);
      const status = await handle.describe().then(
        (run) => run.status.name,
        (error: unknown) => {
          if (error instanceof WorkflowNotFoundError) return 'GONE';
          throw error;
        },
      );
      if (status === 'COMPLETED') return (await handle.result()) as TicketRound;
    }
    return null;
  });
}

/** The last ten, the newest last. */
async function recentRuns(client: Client): Promise<string[]> {
  try {
    const { info } = await client.schedule.getHandle(FRESHNESS_ID).describe();
    return info.recentActions.map(({ action }) => action.workflow.workflowId);
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return [];
    throw error;
  }
}
