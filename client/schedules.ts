import { ScheduleAlreadyRunning, ScheduleOverlapPolicy, type Client, type ScheduleOptions } from '@temporalio/client';
import type { SweepOrder } from '../workflows/artifactSweep';

export interface SweepPlan {
  readonly intervalMs: number;
  /** Each sweep begins up to this much later, so that not all finders are asked at once. */
  readonly jitterMs: number;
  readonly taskQueue: string;
  readonly heartbeatTimeoutMs: number;
}

/** A sweep that was due while Temporal was down is made up for only if it was due this shortly before; the next is near. */
const CATCHUP_MS = 60_000;

/**
 * One Schedule `sweep/<finder>` for each finder, made or brought up to date; whether a person paused it stays. Several
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
    await client.schedule.getHandle(scheduleId).update(({ state }) => ({ ...wanted, state }));
  }
}

const sweepSchedule = (finder: string, { intervalMs, jitterMs, taskQueue, heartbeatTimeoutMs }: SweepPlan) =>
  ({
    scheduleId: `sweep/${finder}`,
    spec: { intervals: [{ every: intervalMs }], jitter: jitterMs },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCHUP_MS },
    action: {
      type: 'startWorkflow',
      workflowType: 'artifactSweep',
      workflowId: `sweep/${finder}`,
      taskQueue,
      args: [{ finder, heartbeatTimeoutMs } satisfies SweepOrder],
      staticSummary: `what is new for the pipelines of ${finder}`,
    },
    memo: { finder },
  }) satisfies ScheduleOptions;
