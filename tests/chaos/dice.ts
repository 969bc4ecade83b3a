import { hashText } from '../../simulator/kernel/random';
import { Arrivals } from '../workflows/arrivals';
import { HOUR } from '../workflows/world';

/** The last time at which chance acts; after it a person tidies up. */
export const HORIZON_MS = 2 * HOUR;

/** Random choices from a seed. */
export class Dice extends Arrivals {
  /** A separate stream of choices from the same seed: it shifts none of the others. */
  static stream(seed: number, name: string): Dice {
    return new Dice(hashText(`${name}/${seed}`));
  }

  int(from: number, to: number): number {
    return Math.floor(this.between(from, to + 1));
  }

  of<T>(...choices: readonly T[]): T {
    const choice = choices[this.int(0, choices.length - 1)];
    if (choice === undefined) throw new Error('nothing to choose from');
    return choice;
  }

  times<T>(max: number, make: (nth: number) => T): T[] {
    return Array.from({ length: this.int(0, max) }, (_, nth) => make(nth));
  }

  /** A time before the horizon, in ms. */
  time(beforeMs = HORIZON_MS): number {
    return Math.round(this.between(1_000, beforeMs));
  }
}
