import type { RunCallback } from './protocol/actionService';
import { sendRequest, type Fetch } from './request';

/** Options of `runEnded`; all may be left out. */
export interface RunEndedOptions {
  /** Default: that of Node. */
  readonly fetch?: Fetch;
  /** The limit of one try, in ms. Default 5000. */
  readonly timeoutMs?: number;
  /** The pause before each further try, in ms; one more try for each. Default 200, 1000 and 5000. */
  readonly pausesMs?: readonly number[];
}

/**
 * For action services: reports that a run has ended, by the `callback` of its `startRun`, so that Conveyor asks for its
 * progress at once. First make sure that `getRunProgress` answers accordingly. Tries a few times and never throws,
 * since Conveyor asks by itself if the report is lost; returns false if no try was accepted.
 */
export async function runEnded(
  callback: RunCallback | undefined,
  { fetch: send = fetch, timeoutMs = 5_000, pausesMs = [200, 1_000, 5_000] }: RunEndedOptions = {},
): Promise<boolean> {
  if (callback === undefined) return false;
  for (const pauseMs of [...pausesMs, null]) {
    const status = await post(callback, send, timeoutMs).catch(() => 0);
    if (status >= 200 && status < 300) return true;
    const isFinal = status >= 300 && status < 500 && status !== 408 && status !== 429;
    if (isFinal || pauseMs === null) return false;
    await new Promise<void>((passed) => void setTimeout(passed, pauseMs).unref());
  }
  return false;
}

async function post({ url, key }: RunCallback, send: Fetch, timeoutMs: number): Promise<number> {
  const init = { method: 'POST', headers: { authorization: `Bearer ${key}` } };
  return (await sendRequest(url, init, { fetch: send, timeoutMs, maxBytes: 0 })).status;
}
