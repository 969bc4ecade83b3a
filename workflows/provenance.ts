import {
  ApplicationFailure,
  patched,
  workflowInfo,
  type StartChildWorkflowExecutionInput,
  type WorkflowInterceptors,
} from '@temporalio/workflow';

/**
 * Ends at once every workflow that Conveyor did not start. Anybody who reaches Temporal can start a workflow under any id. An input that is not
 * sealed for that id is decoded to nothing (client/seal.ts). One that is, and was copied from a history, names the run that it was for.
 */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      execute: (input, next) => {
        const why = whyNotOurs(input.args[0]);
        if (why === undefined) return next(input);
        const message = `Conveyor did not start this workflow: ${why}`;
        // What is thrown here fails the task, not the workflow.
        return Promise.reject(ApplicationFailure.nonRetryable(message, 'not-started-by-conveyor'));
      },
    },
  ],
  outbound: [{ startChildWorkflowExecution: (input, next) => next(boundToThisRun(input)) }],
});

/** The field in the input of a child that has the run of its parent. */
const PARENT_RUN = 'parentRun';

/** Until 0.3 the task of a workflow without an input failed again and again, and its id was taken. */
const ENDS_EMPTY = 'a workflow without an input ends';

function whyNotOurs(input: unknown): string | undefined {
  if (input === undefined) return isBegunAlone() && patched(ENDS_EMPTY) ? UNSEALED : undefined;
  const bound = (input as Readonly<Record<string, unknown>> | null)?.[PARENT_RUN];
  const isForAnother = bound !== undefined && bound !== workflowInfo().parent?.runId;
  return isForAnother ? 'its input is a copy of one that belongs to another run' : undefined;
}

const UNSEALED = 'its input is missing, or not sealed for its id';

/**
 * Neither a child nor a run that continues another. One of these whose input cannot be read belongs to us, and came to a worker that lacks the
 * newest key: its task fails until a worker that has the key takes it. No workflow of ours has a cron schedule, of which each run continues the last.
 */
function isBegunAlone(): boolean {
  const { parent, continuedFromExecutionRunId, cronSchedule } = workflowInfo();
  return parent === undefined && (continuedFromExecutionRunId === undefined || Boolean(cronSchedule));
}

/** Temporal sets the parent of a run, and a parent that has ended starts no more children. */
function boundToThisRun(input: StartChildWorkflowExecutionInput): StartChildWorkflowExecutionInput {
  const [first, ...more] = input.options.args ?? [];
  const bound = { ...(first as object), [PARENT_RUN]: workflowInfo().runId };
  return { ...input, options: { ...input.options, args: [bound, ...more] } };
}
