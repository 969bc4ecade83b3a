import { formatDuration } from './text';

/** Clocks of machines compared with Temporal's, which timers, windows and lists follow. Times and differences in ms. */

/**
 * A clock that is off by more is wrong: bakes and health windows may be as short as this, and NTP keeps clocks a thousand times more accurate.
 */
const CLOCK_LIMIT_MS = 5_000;

export const isClockWrong = (aheadMs: number): boolean => Math.abs(aheadMs) > CLOCK_LIMIT_MS;

/**
 * The least amount by which a clock that showed `atMs` between two times of another clock is ahead of it; negative if
 * it is behind, and 0 if it may be right. A slow answer therefore never makes a clock look wrong.
 */
export function aheadBetween(atMs: number, fromMs: number, untilMs: number): number {
  return atMs > untilMs ? atMs - untilMs : Math.min(0, atMs - fromMs);
}

/** The time by which the clock of a worker is ahead of Temporal's, beyond the time that work took to reach it. */
export interface WorkerClock {
  /** In Temporal's notation: `<process id>@<host>`. */
  readonly identity: string;
  readonly aheadMs: number;
}

/** Merges several answers of one worker, each of which shows the least error of its clock. */
export function clocksOfWorkers(seen: readonly WorkerClock[]): WorkerClock[] {
  const clocks = new Map<string, WorkerClock>();
  for (const clock of seen) {
    const known = clocks.get(clock.identity);
    if (known === undefined || Math.abs(clock.aheadMs) > Math.abs(known.aheadMs)) clocks.set(clock.identity, clock);
  }
  return [...clocks.values()];
}

/** The number of differences remembered: a busy worker picks up some tasks late, but not all. */
const REMEMBERED = 5;

/** A worker picked up a task at `atMs` by its own clock; Temporal had started it at `startedMs` by its clock. */
export const withTask = (differences: readonly number[], startedMs: number, atMs: number): readonly number[] => [
  ...differences.slice(1 - REMEMBERED),
  atMs - startedMs,
];

/**
 * The time by which the worker's clock is then ahead. A task is never picked up before it starts, so the smallest
 * difference is closest.
 */
export const aheadByTasks = (differences: readonly number[]): number =>
  differences.length === 0 ? 0 : Math.min(...differences);

/** `2m ahead of` */
export const aheadWords = (aheadMs: number): string =>
  `${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
