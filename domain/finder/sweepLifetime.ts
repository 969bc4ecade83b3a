import { formatTime, plural } from '../text';
import type { SweepMemory } from './memory';
import type { SweepCounts } from './sweep';

/** The input of each workflow that the Temporal Schedule of a finder starts. */
export interface SweepOrder {
  readonly finder: string;
  readonly heartbeatTimeoutMs: number;
  /** Absent from workers that know only one sweep per workflow: it ends after one. */
  readonly lasting?: SweepRepetition;
}

/** Sweeps repeat for `lastingMs`, at the interval of the Schedule or, if that is unknown, every `intervalMs`. */
export interface SweepRepetition {
  readonly lastingMs: number;
  readonly intervalMs: number;
}

/** The result of a sweep, and its memory for the next one. */
export type SweepReport = SweepMemory & SweepCounts;

/** The heartbeat from one sweep of a workflow to its next. */
export interface SweepSeen {
  readonly report: SweepReport;
  /** The time at which the next one is due; ms since the epoch. */
  readonly dueMs: number;
}

/** The Temporal Schedule of a finder. */
export interface SeenSchedule {
  readonly isPaused: boolean;
  readonly taskQueue: string;
  readonly order: SweepOrder;
  /** The times of its next actions, soonest first; ms since the epoch. */
  readonly nextMs: readonly number[];
}

/** Whether the Schedule would still start this workflow: the Schedule is not gone, not paused and not changed. */
export const isWanted = (schedule: SeenSchedule | null, order: SweepOrder, taskQueue: string): boolean =>
  schedule !== null && !schedule.isPaused && schedule.taskQueue === taskQueue && isSameOrder(schedule.order, order);

export const isSameOrder = (one: SweepOrder, other: SweepOrder): boolean =>
  one.finder === other.finder &&
  one.heartbeatTimeoutMs === other.heartbeatTimeoutMs &&
  one.lasting?.lastingMs === other.lasting?.lastingMs &&
  one.lasting?.intervalMs === other.lasting?.intervalMs;

/**
 * The time of the next sweep, with the jitter that Temporal adds. The sweep that was due at `dueMs` is over, even if the clock of
 * this worker shows an earlier time.
 */
export function nextDueMs(
  { nextMs }: Pick<SeenSchedule, 'nextMs'>,
  nowMs: number,
  { dueMs, intervalMs }: { readonly dueMs: number; readonly intervalMs: number },
): number {
  return nextMs.find((at) => at > Math.max(nowMs, dueMs)) ?? nowMs + intervalMs;
}

/** For people who look at the activity between two sweeps. */
export const sweptText = ({ beganMs, found, released }: SweepReport): string =>
  `asked at ${formatTime(beganMs)}: ${found} found, ${plural(released, 'release')} made; it is asked again`;
