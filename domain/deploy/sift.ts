/**
 * An update that a push type does not take as a whole is sent in parts. Parts that it does not take are split down to single targets, so all
 * others go back, however many cannot. That takes fewer than two calls per target.
 */

/** Targets by their indexes: from the first up to, but not including, the second. */
export type Stretch = readonly [from: number, to: number];

/** A target that was not taken, and the reason. */
export interface MissedTarget {
  readonly id: string;
  readonly reason: string;
}

/**
 * The progress. It is plain JSON, whose size is bounded by the number of targets: a heartbeat carries it to the next
 * attempt.
 */
export interface SiftProgress {
  /** Still to be sent, the largest first: most targets go back before single ones are isolated. */
  readonly left: readonly Stretch[];
  readonly taken: readonly Stretch[];
  /** The number of targets that were not taken, and the first of them. */
  readonly missed: number;
  readonly named: readonly MissedTarget[];
  /** The number of parts in a row without an answer. */
  readonly silent: number;
}

/** The result of a part; without `no` it was taken. */
export interface PartAnswer {
  readonly part: Stretch;
  readonly no?: { readonly id: string; readonly reason: string; readonly isAnswer: boolean };
}

/** The number of refused targets that are named. */
export const MOST_MISSED = 100;

/** After this many parts in a row without an answer, the service is down, not some units. */
const MOST_SILENT = 64;

const SIFTED_PARTS = 4;

/** The whole, in portions. If the push type has already refused exactly this whole, it begins with its quarters. */
export function newSifting(count: number, { portion, isKnown }: { portion: number; isKnown: boolean }): SiftProgress {
  const whole = portionsWithin([0, count], portion);
  const left = isKnown && count > 1 ? whole.flatMap(quarters) : whole;
  return { left, taken: [], missed: 0, named: [], silent: 0 };
}

/** Folds in the answers to the first parts that were left. */
export function applyPartAnswers(before: SiftProgress, answers: readonly PartAnswer[]): SiftProgress {
  const { left, taken, missed, named, silent } = before;
  const failed = answers.filter(({ no }) => no !== undefined);
  const single = failed.filter(({ part }) => isSingle(part));
  const names = single.flatMap(({ no }) => (no ? [{ id: no.id, reason: no.reason }] : []));
  const isSilent = answers.every(({ no }) => no?.isAnswer === false);
  return {
    left: [...left.slice(answers.length), ...failed.flatMap(({ part }) => (isSingle(part) ? [] : quarters(part)))],
    taken: [...taken, ...answers.filter(({ no }) => no === undefined).map(({ part }) => part)],
    missed: missed + single.length,
    named: [...named, ...names].slice(0, MOST_MISSED),
    silent: isSilent ? silent + answers.length : 0,
  };
}

export const isServiceAway = ({ silent }: SiftProgress): boolean => silent >= MOST_SILENT;

const isSingle = ([from, to]: Stretch): boolean => to - from === 1;

/** Halves would take more rounds, and each round may wait for a deadline. */
const quarters = (part: Stretch): Stretch[] => portionsWithin(part, Math.ceil((part[1] - part[0]) / SIFTED_PARTS));

const portionsWithin = ([from, to]: Stretch, size: number): Stretch[] =>
  Array.from({ length: Math.ceil((to - from) / size) }, (_, nth) => [
    from + nth * size,
    Math.min(to, from + (nth + 1) * size),
  ]);
