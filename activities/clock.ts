import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';

/** The only access to time in activities (ARCHITECTURE.md#time): wall time in production, the test server's time in tests. Times in ms. */
export interface Clock {
  now(): Promise<number>;
  /** Ends early, without throwing, if the signal aborts. */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}

export const wallClock: Clock = {
  now: () => Promise.resolve(Date.now()),
  sleep: (durationMs, signal) => wait(durationMs, undefined, { signal }).catch(() => undefined),
};

/** Calls `beat` at this interval until `work` has ended; always in wall time, since it only shows that this process lives. */
export async function withHeartbeats<T>(intervalMs: number, beat: () => void, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(beat, intervalMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** The result of `work` if it comes within `withinMs`. Undefined if `work` takes longer or fails: the caller then continues without. */
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

/** The time for which a revert waits for an answer that it can do without (docs/design/overview.md#invariants). */
export const REVERT_PATIENCE_MS = 1_000;

/**
 * The time that a request on its way has to be answered: updates are answered at once
 * (docs/reference/protocols.md#executeupdates).
 */
const LAST_ANSWER_MS = 3_000;

/**
 * Asks nothing once it is cancelled, but gives a request on its way a moment to be answered, so that a consequence of the cancel, such as a
 * pause, does not overtake it.
 */
export async function awaitLastAnswer<T>(cancelled: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
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
