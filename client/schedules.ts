import {
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
  WorkflowNotFoundError,
  type Client,
  type ScheduleOptions,
  type WorkflowHandle,
} from '@temporalio/client';
import { isSameOrder, type SweepOrder } from '../domain/finder/sweepLifetime';
import { sweepId } from '../domain/ids';
import { serverView } from './live';

export interface SweepPlan {
  readonly intervalMs: number;
  /** Each sweep begins up to this much later, so that not all finders are called at once. */
  readonly jitterMs: number;
  readonly taskQueue: string;
  readonly heartbeatTimeoutMs: number;
}

/**
 * A sweep missed while Temporal was down is made up for only if it was due this recently, because the next one is near.
 */
const CATCHUP_MS = 60_000;

/** How long one workflow repeats its sweeps, as one row in the list of workflows. */
const LASTING_MS = 3_600_000;

/**
 * One Schedule `sweep/<finder>` for each finder, created or updated; a pause by a person stays. Several
 * workers may do so at once. A sweep that takes long is not overtaken by the next.
 */
export async function ensureSweeps(client: Client, finders: readonly string[], plan: SweepPlan): Promise<void> {
  await Promise.all(finders.map((finder) => ensureSweep(client, sweepSchedule(finder, plan))));
}

async function ensureSweep(client: Client, schedule: ReturnType<typeof sweepSchedule>): Promise<void> {
  try {
    await client.schedule.create(schedule);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const { scheduleId, memo: _, ...wanted } = schedule;
    const handle = client.schedule.getHandle(scheduleId);
    const { action: before } = await handle.describe();
    await handle.update(({ state }) => ({ ...wanted, state }));
    const { args, taskQueue } = wanted.action;
    const isMoved = before.taskQueue !== taskQueue;
    if (!isMoved && isSameOrder(before.args?.[0] as SweepOrder, args[0])) return;
    const { info } = await handle.describe();
    for (const { workflow } of info.runningActions) {
      const running = client.workflow.getHandle(workflow.workflowId);
      await (isMoved ? endMoved(running, taskQueue) : hasten(client, running));
    }
  }
}

/** The task queue of its next sweep may have lost its workers, and meanwhile the Schedule starts no other. */
async function endMoved(running: WorkflowHandle, taskQueue: string): Promise<void> {
  try {
    await running.terminate(`sweeps are made on the task queue ${taskQueue} now`);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/** Makes the workflow notice before its next sweep, which may be hours away, that its parameters are out of date, and end. */
async function hasten({ workflowService, options: { namespace } }: Client, running: WorkflowHandle): Promise<void> {
  const { workflowId } = running;
  try {
    const waiting = (await serverView(running)).pending.find(({ stage }) => stage === 'waits');
    if (waiting) await workflowService.resetActivity({ namespace, execution: { workflowId }, id: waiting.id });
  } catch {
    // It has ended meanwhile, or the server cannot do this, and it ends later.
  }
}

const sweepSchedule = (finder: string, { intervalMs, jitterMs, taskQueue, heartbeatTimeoutMs }: SweepPlan) =>
  ({
    scheduleId: sweepId(finder),
    spec: { intervals: [{ every: intervalMs }], jitter: jitterMs },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCHUP_MS },
    action: {
      type: 'startWorkflow',
      workflowType: 'artifactSweep',
      workflowId: sweepId(finder),
      taskQueue,
      args: [{ finder, heartbeatTimeoutMs, lasting: { intervalMs, lastingMs: LASTING_MS } }] satisfies [SweepOrder],
      staticSummary: `new artifacts of ${finder} for its pipelines`,
    },
    memo: { finder },
  }) satisfies ScheduleOptions;
