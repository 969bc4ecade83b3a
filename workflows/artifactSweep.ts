import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { memoryAfter, type SweepMemory } from '../domain/finder/memory';
import { sweepDetails, type SweepCounts } from '../domain/finder/sweep';
import { sweepers } from './proxies';

/** As a Schedule starts it (client/schedules.ts). */
export interface SweepOrder {
  readonly finder: string;
  readonly heartbeatTimeoutMs: number;
}

/** What a sweep leaves to the next one, and what it did. */
export type SweepReport = SweepMemory & SweepCounts;

/**
 * One look of one finder for all its pipelines. What it must know of the sweep before comes with the Schedule, as the
 * result of the last run that completed; so nobody stores anything, and a sweep that failed is made up for by the next.
 */
export async function artifactSweep({ finder, heartbeatTimeoutMs }: SweepOrder): Promise<SweepReport> {
  const { lastResult, startTime } = workflowInfo();
  const memory = (lastResult as SweepReport | undefined) ?? null;
  setCurrentDetails(sweepDetails(finder, null));
  const { cursor, again, ...counts } = await sweepers(heartbeatTimeoutMs).sweep({
    finder,
    memory: memory && { cursor: memory.cursor, beganMs: memory.beganMs, again: memory.again },
    heartbeatTimeoutMs,
  });
  setCurrentDetails(sweepDetails(finder, counts));
  return { ...memoryAfter(memory, startTime.getTime(), { cursor, again }), ...counts };
}
