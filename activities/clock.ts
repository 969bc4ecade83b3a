import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';

/** The only way to time in activities (ARCHITECTURE.md#time): wall time in production, the test server's time in tests. Times in ms. */
export interface Clock {
  now(): Promise<number>;
  /** Ends early, without throwing, when the signal aborts. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}

export const wallClock: Clock = {
  now: () => Promise.resolve(Date.now()),
  sleep: (durationMs, signal) => wait(durationMs, undefined, { signal }).catch(() => undefined),
};

/** Does `beat` every so often until `work` has ended; always in wall time, since it shows no more than that this process lives. */
export async function beating<T>(intervalMs: number, beat: () => void, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(beat, intervalMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
