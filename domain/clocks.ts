import { formatDuration } from './text';

/** Clocks of machines beside that of Temporal, by which timers, windows and lists go. Times and differences in ms. */

/** A clock that is further off is wrong: bakes and health windows may be as short as this, and NTP keeps it a thousand times better. */
const CLOCK_LIMIT_MS = 5_000;

export const isClockWrong = (aheadMs: number): boolean => Math.abs(aheadMs) > CLOCK_LIMIT_MS;

/**
 * How far a clock that showed `atMs` between two times of another one is ahead of that at least; negative where it is behind, and 0 where it
 * may be right. So what takes long makes no clock wrong.
 */
export function aheadBetween(atMs: number, fromMs: number, untilMs: number): number {
  return atMs > untilMs ? atMs - untilMs : Math.min(0, atMs - fromMs);
}

/** How far the clock of a worker is ahead of Temporal's, beyond the time that work took to reach it. */
export interface WorkerClock {
  /** As Temporal names it: `<process id>@<host>`. */
  readonly identity: string;
  readonly aheadMs: number;
}

/** Several answers of one worker are one: each shows how far its clock is off at least. */
export function clocksOfWorkers(seen: readonly WorkerClock[]): WorkerClock[] {
  const clocks = new Map<string, WorkerClock>();
  for (const clock of seen) {
    const known = clocks.get(clock.identity);
    if (known === undefined || Math.abs(clock.aheadMs) > Math.abs(known.aheadMs)) clocks.set(clock.identity, clock);
  }
  return [...clocks.values()];
}

/** So many differences are remembered: a busy worker takes up some of its tasks late, and not all. */
const REMEMBERED = 5;

/** A worker took up a task at `atMs` by its own clock, which Temporal had begun at `startedMs` by its clock. */
export const withTask = (differences: readonly number[], startedMs: number, atMs: number): readonly number[] => [
  ...differences.slice(1 - REMEMBERED),
  atMs - startedMs,
];

/** How far ahead that makes the clock of the worker: a task is never taken up before it begins, so that the least difference is nearest. */
export const aheadByTasks = (differences: readonly number[]): number =>
  differences.length === 0 ? 0 : Math.min(...differences);

/** `2m ahead of` */
export const aheadWords = (aheadMs: number): string =>
  `${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
