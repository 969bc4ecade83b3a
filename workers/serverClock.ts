import { hostname } from 'node:os';
import type { Clock } from '../activities/clock';
import { aheadByTasks, aheadWords, isClockWrong, withTask } from '../domain/clocks';
import { CLOCK_SKEW_METRIC, type GaugeMeter } from '../domain/metrics';

/** The time of Temporal's clock, as well as this worker knows it. */
export interface ServerClock extends Clock {
  /** This worker took up a task that Temporal had begun at `startedMs`. */
  readonly taskStarted: (startedMs: number) => void;
}

/** By default a worker goes by this name at Temporal. */
export const workerIdentity = (): string => `${process.pid}@${hostname()}`;

/** That of a worker. */
type ClockLog = Readonly<Record<'error' | 'info', (of: object, words: string) => void>>;

const SAID_AGAIN_MS = 600_000;

/**
 * Compares the clock of this machine with the tasks that Temporal hands out. While it is wrong, that is in the log and in the metrics, and
 * activities go by Temporal's: bakes, windows and the order of health and updates are of Temporal's time.
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
        `the clock of this worker is ${aheadWords(aheadMs)} Temporal's: set it by NTP; until then activities go by Temporal's`,
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
