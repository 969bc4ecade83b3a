import { DAY_MS } from '../../domain/milliseconds';
import type { Dice } from '../chaos/dice';
import { HOUR, MINUTE } from '../workflows/world';
import { BAD_BY, COMMITS, FATES, SHOWS_LATE, type Fate } from './inputs';
import type { Category } from './paper';

/** A version that people commit. */
export interface Commit {
  /** After the beginning, a Monday at midnight. */
  readonly atMs: number;
  readonly version: string;
  readonly fate: Fate;
  /** The check that sees it, if it is bad or harmless. */
  readonly seenBy: keyof typeof BAD_BY;
  readonly isLate: boolean;
  /** How long its actions take, by their names; ms. */
  readonly takes: Readonly<Record<string, number>>;
  /** Actions that it breaks. */
  readonly fails: readonly string[];
}

/** The commits of a pipeline in so many weeks, in the order of time. */
export function commitsOf(
  dice: Dice,
  of: { readonly category: Category; readonly name: string },
  actions: readonly string[],
  weeks: number,
): Commit[] {
  return times(dice, weeks).map((atMs, nth) => commitAt(dice, of, { atMs, nth, actions }));
}

/** Bursts of commits, on workdays. */
function times(dice: Dice, weeks: number): number[] {
  const { burstsEveryHours, perBurst, minutesApart } = COMMITS;
  const found: number[] = [];
  // In working time, of which a day has ten hours.
  let workedMs = dice.waitMs(burstsEveryHours * HOUR);
  for (; workedMs < weeks * 5 * WORKDAY_MS; workedMs += dice.waitMs(burstsEveryHours * HOUR)) {
    let atMs = wallMs(workedMs);
    for (let left = dice.int(...perBurst); left > 0; left -= 1) {
      found.push(atMs);
      atMs += Math.round(dice.between(...minutesApart) * MINUTE);
    }
  }
  return found.sort((a, b) => a - b);
}

const OPENS_MS = 8 * HOUR;
const WORKDAY_MS = 10 * HOUR;

function wallMs(workedMs: number): number {
  const workday = Math.floor(workedMs / WORKDAY_MS);
  const days = Math.floor(workday / 5) * 7 + (workday % 5);
  return days * DAY_MS + OPENS_MS + (workedMs % WORKDAY_MS);
}

function commitAt(
  dice: Dice,
  { category, name }: { readonly category: Category; readonly name: string },
  { atMs, nth, actions }: { readonly atMs: number; readonly nth: number; readonly actions: readonly string[] },
): Commit {
  const fate = fateOf(dice, category);
  const seenBy = drawnFrom(dice, BAD_BY) ?? 'rpc';
  const isLate = fate === 'bad' && dice.chance(SHOWS_LATE / 100);
  const tests = actions.filter((action) => /-test-/.test(action));
  const broken = tests.length === 0 ? 'build' : dice.of(...tests);
  const takes = Object.fromEntries(
    ['build', ...tests].map((action) => {
      const [from, to] = action === 'build' ? COMMITS.build : COMMITS.test;
      return [action, Math.round(dice.between(from, to) * MINUTE)];
    }),
  );
  const fails = fate === 'breaks build' ? ['build'] : fate === 'breaks tests' ? [broken] : [];
  return { atMs, version: `${name}:${nth + 1}`, fate, seenBy, isLate, takes, fails };
}

const fateOf = (dice: Dice, category: Category): Fate => drawnFrom(dice, FATES[category], 100) ?? 'fine';

/** One of the words by their shares of `whole`; undefined for the rest of it. */
function drawnFrom<T extends string>(
  dice: Dice,
  shares: Readonly<Record<T, number>>,
  whole: number = Object.values<number>(shares).reduce((sum, share) => sum + share, 0),
): T | undefined {
  let left = dice.next() * whole;
  return (Object.keys(shares) as T[]).find((word) => (left -= shares[word]) < 0);
}
