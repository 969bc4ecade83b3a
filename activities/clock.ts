import { setTimeout as wait } from 'node:timers/promises';

/** The only way to time in activities (DESIGN §7): wall time in production, the test server's time in tests. Times in ms. */
export interface Clock {
  now(): Promise<number>;
  /** Ends early, without throwing, when the signal aborts. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}

export const wallClock: Clock = {
  now: () => Promise.resolve(Date.now()),
  sleep: (durationMs, signal) => wait(durationMs, undefined, { signal }).catch(() => undefined),
};
