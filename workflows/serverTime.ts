import { proxySinks, type Sinks, type WorkflowInterceptors } from '@temporalio/workflow';

/** The receiver of the times of Temporal's clock: the worker, which compares its own clock (workers/serverClock.ts). */
export interface ClockSinks extends Sinks {
  serverClock: { taskStarted(startedMs: number): void };
}

const { serverClock } = proxySinks<ClockSinks>();

/** Passes on the time at which Temporal began each workflow task; nothing during a replay. It is not a command, so histories do not contain it. */
export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      activate: (input, next) => {
        // A query is not a workflow task: its time is that of the last task.
        const isTask = input.activation.jobs?.some(({ queryWorkflow }) => !queryWorkflow) ?? false;
        next(input);
        if (isTask) serverClock.taskStarted(Date.now());
      },
    },
  ],
});
