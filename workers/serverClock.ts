import { hostname } from 'node:os';
import type { Clock } from '../activities/clock';
import { aheadByTasks, aheadWords, isClockWrong, withTask } from '../domain/clocks';
import { CLOCK_SKEW_METRIC, type GaugeMeter } from '../domain/metrics';

/** The time of Temporal's clock, as far as this worker knows it. */
export interface ServerClock extends Clock {
  /** This worker picked up a task that Temporal had started at `startedMs`. */
  readonly taskStarted: (startedMs: number) => void;
}

/** The default name of a worker in Temporal. */
export const workerIdentity = (): string => `${process.pid}@${hostname()}`;

/** The log of a worker. */
type ClockLog = Readonly<Record<'error' | 'info', (of: object, words: string) => void>>;

const SAID_AGAIN_MS = 600_000;

/**
 * Compares the clock of this machine with the tasks that Temporal hands out. While it is wrong, the log and the metrics
 * say so, and activities follow Temporal's clock, because bakes, windows and the order of health and updates are in
 * Temporal's time.
 */
export function createServerClock(clock: Clock, meter: GaugeMeter, log: ClockLog): ServerClock {
  let differences: readonly number[] = [];
  let [wasWrong, saidAtMs] = [false, 0];
  const gauge = meter.createGauge(CLOCK_SKEW_METRIC.name, 'float', 'seconds', CLOCK_SKEW_METRIC.help);
  const say = (aheadMs: number, nowMs: number): void => {
    const isWrong = isClockWrong(aheadMs);
    if (isWrong && (!wasWrong || Math.abs(nowMs - saidAtMs) > SAID_AGAIN_MS)) {
      saidAtMs = nowMs;
      log.error(
        { aheadMs },
        `the clock of this worker is ${aheadWords(aheadMs)} Temporal's: set it by NTP; until then activities follow Temporal's`,
      );
    }
    if (!isWrong && wasWrong) log.info({ aheadMs }, "the clock of this worker agrees with Temporal's again");
    wasWrong = isWrong;
  };
  return {
    taskStarted: (startedMs) => {
      const nowMs = Date.now();
      differences = withTask(differences, startedMs, nowMs);
      const aheadMs = aheadByTasks(differences);
      gauge.set(Math.abs(aheadMs) / 1000);
      say(aheadMs, nowMs);
    },
    now: async () => {
      const aheadMs = aheadByTasks(differences);
      return (await clock.now()) - (isClockWrong(aheadMs) ? aheadMs : 0);
    },
    sleep: clock.sleep,
  };
}
