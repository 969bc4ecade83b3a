import type { EndedOutside } from '../domain/outside';
import { formatTime } from '../domain/text';
import type { Temporal } from './connection';
import type { ServerView } from './live';

/** How a workflow was ended from outside; undefined if it runs, or ended by itself. */
export async function describeOutsideEnd(
  temporal: Temporal,
  workflowId: string,
  { status, closedAt, runId }: ServerView,
): Promise<EndedOutside | undefined> {
  const how = OUTSIDE_ENDS[status];
  if (how === undefined) return undefined;
  const reason = await terminationReason(temporal, workflowId, runId).catch(() => '');
  return { how, at: formatTime(closedAt?.getTime() ?? 0), reason };
}

const OUTSIDE_ENDS: Readonly<Record<string, EndedOutside['how']>> = {
  TERMINATED: 'terminated',
  CANCELLED: 'cancelled',
  FAILED: 'failed',
  TIMED_OUT: 'timed out',
};

/** The reason is in the last event. */
async function terminationReason({ client, namespace }: Temporal, workflowId: string, runId: string): Promise<string> {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const last = history?.events?.[0];
  return (
    last?.workflowExecutionTerminatedEventAttributes?.reason ??
    last?.workflowExecutionFailedEventAttributes?.failure?.message ??
    ''
  );
}
