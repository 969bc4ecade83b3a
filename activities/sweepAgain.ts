import { Context, log } from '@temporalio/activity';
import { ScheduleNotFoundError, type Client } from '@temporalio/client';
import {
  isWanted,
  nextDueMs,
  sweptText,
  type SweepRepetition,
  type SeenSchedule,
  type SweepOrder,
  type SweepReport,
  type SweepSeen,
} from '../domain/finder/sweepLifetime';
import { memoryAfter, type SweepMemory } from '../domain/finder/memory';
import type { SweepOutcome } from '../domain/finder/sweep';
import { sweepId } from '../domain/ids';
import type { Clock } from './clock';
import { look } from './look';

/** The result of a workflow's sweeps: the report of the last; null if none was answered. */
export interface SweptAgain {
  readonly report: SweepReport | null;
}

/** The time that Temporal has to describe a Schedule. */
const SCHEDULE_TIMEOUT_MS = 5_000;

/**
 * Sweeps once, and again whenever the Schedule would begin another, until the time is up. So the list of workflows gains one row an hour instead of
 * one per sweep. It ends early once a person has paused or deleted the Schedule, or a worker has changed it. The first sweep runs regardless of the
 * Schedule, since a person may have triggered it.
 */
export function sweepAgain(
  { client, clock }: { readonly client: Client; readonly clock: Clock },
  { memory: first, ...order }: SweepOrder & { readonly lasting: SweepRepetition; readonly memory: SweepMemory | null },
  sweep: (memory: SweepMemory | null) => Promise<SweepOutcome>,
): Promise<SweptAgain> {
  const { finder, heartbeatTimeoutMs, lasting } = order;
  const { attempt, scheduledTimestampMs, taskQueue } = Context.current().info;
  const { intervalMs, lastingMs } = lasting;
  return look<SweptAgain, SweepSeen>({ clock, intervalMs, heartbeatTimeoutMs }, async (now, before) => {
    const schedule = await readSweepSchedule(client, finder, now + SCHEDULE_TIMEOUT_MS);
    const isFirst = attempt === 1 && before === undefined;
    if (!isFirst && schedule !== undefined && !isWanted(schedule, order, taskQueue))
      return { done: { report: before?.report ?? null } };
    const memory = before?.report ?? first;
    const { cursor, again, ...counts } = await sweep(memory);
    const report = { ...memoryAfter(memory, now, { cursor, again }), ...counts };
    const known = schedule ?? { nextMs: [] };
    const dueMs = nextDueMs(known, await clock.now(), { dueMs: before?.dueMs ?? 0, intervalMs });
    if (dueMs >= scheduledTimestampMs + lastingMs) return { done: { report } };
    return { seen: { report, dueMs }, message: sweptText(report), waitMs: dueMs - now };
  });
}

/** Null if there is none; undefined if Temporal does not answer, which is no reason to skip a sweep. */
async function readSweepSchedule(
  client: Client,
  finder: string,
  deadline: number,
): Promise<SeenSchedule | null | undefined> {
  try {
    const handle = client.schedule.getHandle(sweepId(finder));
    const { state, action, info } = await client.withDeadline(deadline, () => handle.describe());
    return {
      isPaused: state.paused,
      taskQueue: action.taskQueue,
      order: action.args?.[0] as SweepOrder,
      nextMs: info.nextActionTimes.map((at) => at.getTime()),
    };
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    log.warn('the Temporal Schedule of a finder cannot be read', { finder, error: String(error) });
    return undefined;
  }
}
