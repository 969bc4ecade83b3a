import { backOff } from '../../../domain/backoff';

/** The result of a request to a peer. */
export type AskOutcome =
  | 'good'
  /** Its data does not match the digest. */
  | 'lied'
  /** It is gone, or answered with an error, or too late. */
  | 'failed'
  /** It is overloaded, or does not serve that piece now. */
  | 'busy';

/** The trust of a host in a peer. */
export interface Trust {
  readonly lies: number;
  readonly failures: number;
  readonly refusals: number;
  /** The time until which it is not asked, in milliseconds since 1970. */
  readonly restsUntil: number;
}

export const TRUSTED: Trust = { lies: 0, failures: 0, refusals: 0, restsUntil: 0 };

const MINUTE = 60_000;

/**
 * A peer that lies is not asked for ten minutes, and longer each time. A peer that fails or is busy is not asked for a moment, and longer
 * each time in a row.
 */
export function trustAfter(trust: Trust, outcome: AskOutcome, now: number): Trust {
  const { lies, failures, refusals } = trust;
  switch (outcome) {
    case 'good':
      return { lies, failures: 0, refusals: 0, restsUntil: trust.restsUntil > now ? trust.restsUntil : 0 };
    case 'lied':
      return { ...trust, lies: lies + 1, restsUntil: now + backOff(10 * MINUTE, lies + 1, 120 * MINUTE) };
    case 'failed':
      return {
        ...trust,
        failures: failures + 1,
        restsUntil: later(trust, now + backOff(1000, failures + 1, 2 * MINUTE)),
      };
    case 'busy':
      return { ...trust, refusals: refusals + 1, restsUntil: later(trust, now + backOff(100, refusals + 1, 5000)) };
  }
}

const later = ({ restsUntil }: Trust, until: number): number => Math.max(restsUntil, until);
