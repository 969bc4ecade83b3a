import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** The environment of a service whose clock the suite cannot control. */
export interface LiveSettings {
  /** ms since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** The longest time of one update, ms. */
  readonly settleMs: number;
  /** The prefix of all names that the checks make: different in each run. */
  readonly nonce: string;
}

/** Uses the clock of this machine, and names that no other run uses. */
export const inRealTime = (settleMs = 60_000): LiveSettings => ({
  ...{ now: () => Date.now(), sleep: (ms) => delay(ms), settleMs },
  nonce: randomBytes(4).toString('hex'),
});
