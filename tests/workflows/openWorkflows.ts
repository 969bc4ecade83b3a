import type { Client } from '@temporalio/client';
import type { DeployStatus } from '../../domain/views';

/** Every workflow that has not ended, without visibility's queries, which the test server does not have. */
export async function openExecutions(client: Client) {
  const request = { namespace: 'default', maximumPageSize: 1_000, StartTimeFilter: {} };
  return (await client.workflowService.listOpenWorkflowExecutions(request)).executions;
}

/**
 * Every running workflow, the end of its history (event types), and its pending work by the server: to find out why a
 * story stands still.
 */
export async function openWorkflows(client: Client): Promise<string[]> {
  const open = await openExecutions(client);
  return Promise.all(open.map(({ execution }) => standingOf(client, execution?.workflowId ?? '')));
}

async function standingOf(client: Client, workflowId: string): Promise<string> {
  const handle = client.workflow.getHandle(workflowId);
  const { events } = await handle.fetchHistory();
  const last = (events ?? []).slice(-12).map(({ eventId, eventType }) => `${String(eventId)}:${eventType ?? 0}`);
  const { raw } = await handle.describe();
  const activities = raw.pendingActivities?.map(({ activityType, state, attempt }) => [
    activityType?.name,
    state,
    attempt,
  ]);
  const { summary = '' } = await handle.query<Partial<DeployStatus>>('status').catch((): Partial<DeployStatus> => ({}));
  const underWay = JSON.stringify({ activities, task: raw.pendingWorkflowTask });
  return `${workflowId}: ${summary}\n  last events ${last.join(' ')}; under way ${underWay}`;
}
