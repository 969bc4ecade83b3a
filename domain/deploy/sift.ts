/**
 * What a push type does not take as a whole is sent in parts. Those that it does not take are split until single targets are left, so
 * that all others go back, however many cannot. That takes less than two calls a target.
 */

/** Targets by their places: from the first up to the second, which it leaves out. */
export type Stretch = readonly [from: number, to: number];

/** A target that was not taken, and why. */
export interface Missed {
  readonly id: string;
  readonly reason: string;
}

/** How far it is. Plain JSON, whose size the number of targets bounds: a heartbeat carries it to the next attempt. */
export interface Sifting {
  /** Still to be sent, the largest first: most go back before single ones are looked for. */
  readonly left: readonly Stretch[];
  readonly taken: readonly Stretch[];
  /** How many targets were not taken, and the first of them. */
  readonly missed: number;
  readonly named: readonly Missed[];
  /** To so many parts in a row there was no answer. */
  readonly silent: number;
}

/** What became of a part; without `no` it was taken. */
export interface PartAnswer {
  readonly part: Stretch;
  readonly no?: { readonly id: string; readonly reason: string; readonly isAnswer: boolean };
}

/** So many targets are named of those that were not taken. */
export const MOST_MISSED = 100;

/** So many parts in a row without an answer, and it is the service that is away, not some units. */
const MOST_SILENT = 64;

const SIFTED_PARTS = 4;

/** The whole in portions; a single one was not taken already as it is, where no target of it is gone since. */
export function newSifting(count: number, { portion, isKnown }: { portion: number; isKnown: boolean }): Sifting {
  const whole = portionsWithin([0, count], portion);
  const left = isKnown && count > 1 ? whole.flatMap(quarters) : whole;
  return { left, taken: [], missed: 0, named: [], silent: 0 };
}

/** Takes in the answers to the first parts that were left. */
export function sifted(before: Sifting, answers: readonly PartAnswer[]): Sifting {
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

export const isServiceAway = ({ silent }: Sifting): boolean => silent >= MOST_SILENT;

const isSingle = ([from, to]: Stretch): boolean => to - from === 1;

/** Halves would take more rounds, each of which may wait for a deadline. */
const quarters = (part: Stretch): Stretch[] => portionsWithin(part, Math.ceil((part[1] - part[0]) / SIFTED_PARTS));

const portionsWithin = ([from, to]: Stretch, size: number): Stretch[] =>
  Array.from({ length: Math.ceil((to - from) / size) }, (_, nth) => [
    from + nth * size,
    Math.min(to, from + (nth + 1) * size),
  ]);
