import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
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

/** What `work` comes to, where that is within so long; undefined where it takes longer, or fails: then whoever asked continues without. */
export async function promptly<T>(clock: Clock, withinMs: number, work: Promise<T>): Promise<T | undefined> {
  const over = new AbortController();
  try {
    return await Promise.race([work, clock.sleep(withinMs, over.signal).then(() => undefined)]);
  } catch {
    return undefined;
  } finally {
    over.abort();
  }
}

/** So long a revert waits for what it can do without (docs/design/overview.md#invariants). */
export const REVERT_PATIENCE_MS = 1_000;

/** Updates are answered at once (docs/reference/protocols.md#executeupdates). */
const LAST_ANSWER_MS = 3_000;

/**
 * Asks nothing once it is cancelled, but lets what is on its way have its answer for a moment: what follows from the cancel, such as a
 * pause, is not to overtake it.
 */
export async function answeredFirst<T>(cancelled: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  cancelled.throwIfAborted();
  const late = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (): void => {
    timer = setTimeout(() => late.abort(cancelled.reason), LAST_ANSWER_MS);
  };
  cancelled.addEventListener('abort', wait, { once: true });
  try {
    return await ask(late.signal);
  } finally {
    cancelled.removeEventListener('abort', wait);
    clearTimeout(timer);
  }
}
