import { formatTime, plural } from '../text';
import type { SweepMemory } from './memory';
import type { SweepCounts } from './sweep';

/** What the Temporal Schedule of a finder gives to each workflow that it starts. */
export interface SweepOrder {
  readonly finder: string;
  readonly heartbeatTimeoutMs: number;
  /** Absent from workers that know one sweep a workflow: it ends after one. */
  readonly lasting?: Lasting;
}

/** Sweeps follow each other for `lastingMs`, as often as the Schedule says; where that is not known, every `intervalMs`. */
export interface Lasting {
  readonly lastingMs: number;
  readonly intervalMs: number;
}

/** What a sweep did, and leaves to the next one. */
export type SweepReport = SweepMemory & SweepCounts;

/** What is heartbeaten from one sweep of a workflow to its next. */
export interface SweepSeen {
  readonly report: SweepReport;
  /** When the next one is due; ms since the epoch. */
  readonly dueMs: number;
}

/** The Temporal Schedule of a finder. */
export interface SeenSchedule {
  readonly isPaused: boolean;
  readonly taskQueue: string;
  readonly order: SweepOrder;
  /** When it acts next, soonest first; ms since the epoch. */
  readonly nextMs: readonly number[];
}

/** Whether the workflow of this order is still what its Schedule would start: it is neither gone, nor paused, nor changed. */
export const isWanted = (schedule: SeenSchedule | null, order: SweepOrder, taskQueue: string): boolean =>
  schedule !== null && !schedule.isPaused && schedule.taskQueue === taskQueue && isSameOrder(schedule.order, order);

export const isSameOrder = (one: SweepOrder, other: SweepOrder): boolean =>
  one.finder === other.finder &&
  one.heartbeatTimeoutMs === other.heartbeatTimeoutMs &&
  one.lasting?.lastingMs === other.lasting?.lastingMs &&
  one.lasting?.intervalMs === other.lasting?.intervalMs;

/**
 * When the next sweep is due, with the jitter that Temporal gives it. The one that was due at `dueMs` is over, though the
 * clock of this worker may say that it is yet to come.
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
