import {
  ApplicationFailure,
  workflowInfo,
  type StartChildWorkflowExecutionInput,
  type WorkflowInterceptors,
} from '@temporalio/workflow';

/**
 * Ends at once every workflow that Conveyor did not start. Anyone who reaches Temporal can start a workflow under any id. An input that is not sealed
 * for that id decodes to nothing (client/seal.ts). A sealed input that was copied from a history names the run that it was for.
 */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      execute: (input, next) => {
        const why = whyNotOurs(input.args[0]);
        if (why === undefined) return next(input);
        const message = `Conveyor did not start this workflow: ${why}`;
        // An error thrown here fails the workflow task, not the workflow.
        return Promise.reject(ApplicationFailure.nonRetryable(message, 'not-started-by-conveyor'));
      },
    },
  ],
  outbound: [{ startChildWorkflowExecution: (input, next) => next(bindToThisRun(input)) }],
});

/** The field in the input of a child that holds the run of its parent. */
const PARENT_RUN = 'parentRun';

function whyNotOurs(input: unknown): string | undefined {
  if (input === undefined) return isBegunAlone() ? UNSEALED : undefined;
  const bound = (input as Readonly<Record<string, unknown>> | null)?.[PARENT_RUN];
  const isForAnother = bound !== undefined && bound !== workflowInfo().parent?.runId;
  return isForAnother ? 'its input is a copy of one that belongs to another run' : undefined;
}

const UNSEALED = 'its input is missing, or not sealed for its id';

/**
 * True for a run that is neither a child nor a continuation. If the input of a child or continuation cannot be read, the run is ours, and its worker
 * lacks the newest key. Its task fails until a worker with the key takes it. None of our workflows has a cron schedule, whose runs also continue the
 * last one.
 */
function isBegunAlone(): boolean {
  const { parent, continuedFromExecutionRunId, cronSchedule } = workflowInfo();
  return parent === undefined && (continuedFromExecutionRunId === undefined || Boolean(cronSchedule));
}

/** Temporal sets the parent of a run, and a parent that has ended starts no more children. */
function bindToThisRun(input: StartChildWorkflowExecutionInput): StartChildWorkflowExecutionInput {
  const [first, ...more] = input.options.args ?? [];
  const bound = { ...(first as object), [PARENT_RUN]: workflowInfo().runId };
  return { ...input, options: { ...input.options, args: [bound, ...more] } };
}
