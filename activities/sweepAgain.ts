import { Context, log } from '@temporalio/activity';
import { ScheduleNotFoundError, type Client } from '@temporalio/client';
import {
  isWanted,
  nextDueMs,
  sweptText,
  type Lasting,
  type SeenSchedule,
  type SweepOrder,
  type SweepReport,
  type SweepSeen,
} from '../domain/finder/lasting';
import { memoryAfter, type SweepMemory } from '../domain/finder/memory';
import type { SweepOutcome } from '../domain/finder/sweep';
import { sweepId } from '../domain/ids';
import type { Clock } from './clock';
import { look } from './look';

/** What the sweeps of a workflow came to: the report of the last; null where none was answered. */
export interface SweptAgain {
  readonly report: SweepReport | null;
}

/** How long Temporal may take to describe a Schedule. */
const SCHEDULE_TIMEOUT_MS = 5_000;

/**
 * Sweeps once, and again when the Schedule would begin the next one, until the time is up; so the list of workflows gains one row an hour
 * instead of one a sweep. Ends before that once a person paused or deleted the Schedule, or a worker changed it. The first sweep takes place
 * whatever the Schedule says: somebody may have triggered it.
 */
export function sweepAgain(
  { client, clock }: { readonly client: Client; readonly clock: Clock },
  { memory: first, ...order }: SweepOrder & { readonly lasting: Lasting; readonly memory: SweepMemory | null },
  sweep: (memory: SweepMemory | null) => Promise<SweepOutcome>,
): Promise<SweptAgain> {
  const { finder, heartbeatTimeoutMs, lasting } = order;
  const { attempt, scheduledTimestampMs, taskQueue } = Context.current().info;
  const { intervalMs, lastingMs } = lasting;
  return look<SweptAgain, SweepSeen>({ clock, intervalMs, heartbeatTimeoutMs }, async (now, before) => {
    const schedule = await scheduleOf(client, finder, now + SCHEDULE_TIMEOUT_MS);
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

/** Null where there is none; undefined where Temporal does not say: that is no reason to ask nobody. */
async function scheduleOf(client: Client, finder: string, deadline: number): Promise<SeenSchedule | null | undefined> {
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
