import { proxySinks, type Sinks, type WorkflowInterceptors } from '@temporalio/workflow';

/** Where the times of Temporal's clock go: to the worker, which compares its own (workers/serverClock.ts). */
export interface ClockSinks extends Sinks {
  serverClock: { taskStarted(startedMs: number): void };
}

const { serverClock } = proxySinks<ClockSinks>();

/** Hands on when Temporal began each task of a workflow; nothing while a history is replayed. It is not a command, so that no history knows of it. */
export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      activate: (input, next) => {
        // A query is no task: its time is that of the last one.
        const isTask = input.activation.jobs?.some(({ queryWorkflow }) => !queryWorkflow) ?? false;
        next(input);
        if (isTask) serverClock.taskStarted(Date.now());
      },
    },
  ],
});
