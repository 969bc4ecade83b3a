import { Context } from '@temporalio/activity';

/** The activity that runs now, by the same name in all of its attempts. */
export function nameStep(): string {
  const { workflowExecution, activityId } = Context.current().info;
  return `${workflowExecution?.runId ?? ''}/${activityId}`;
}
