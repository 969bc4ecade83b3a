import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** The world in which a service lives that the suite cannot turn the clock of. */
export interface LiveSettings {
  /** ms since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** How long one update may take, ms. */
  readonly settleMs: number;
  /** Begins the names of all that the checks make: another one in each run. */
  readonly nonce: string;
}

/** By the clock of this machine, with names that no other run has. */
export const inRealTime = (settleMs = 60_000): LiveSettings => ({
  ...{ now: () => Date.now(), sleep: (ms) => delay(ms), settleMs },
  nonce: randomBytes(4).toString('hex'),
});
