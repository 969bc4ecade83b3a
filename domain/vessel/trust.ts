/** What came of asking a peer. */
export type AskOutcome =
  | 'good'
  /** What it sent does not fit its digest. */
  | 'lied'
  /** It is gone, or answered with an error, or too late. */
  | 'failed'
  /** It has enough to do, or does not give that piece now. */
  | 'busy';

/** How a host stands with a peer. */
export interface Trust {
  readonly lies: number;
  readonly failures: number;
  readonly refusals: number;
  /** Until when it is left alone, in milliseconds since 1970. */
  readonly restsUntil: number;
}

export const TRUSTED: Trust = { lies: 0, failures: 0, refusals: 0, restsUntil: 0 };

const MINUTE = 60_000;

/** Who lies is left alone for ten minutes, and longer each time; who fails or is busy for a moment, and longer each time in a row. */
export function trustAfter(trust: Trust, outcome: AskOutcome, now: number): Trust {
  const { lies, failures, refusals } = trust;
  switch (outcome) {
    case 'good':
      return { lies, failures: 0, refusals: 0, restsUntil: trust.restsUntil > now ? trust.restsUntil : 0 };
    case 'lied':
      return { ...trust, lies: lies + 1, restsUntil: now + growing(10 * MINUTE, lies, 120 * MINUTE) };
    case 'failed':
      return { ...trust, failures: failures + 1, restsUntil: later(trust, now + growing(1000, failures, 2 * MINUTE)) };
    case 'busy':
      return { ...trust, refusals: refusals + 1, restsUntil: later(trust, now + growing(100, refusals, 5000)) };
  }
}

const growing = (first: number, times: number, most: number): number => Math.min(most, first * 2 ** times);

const later = ({ restsUntil }: Trust, until: number): number => Math.max(restsUntil, until);
