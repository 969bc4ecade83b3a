import type { ActiveRelease, PipelineState } from './state';

/**
 * Where a release stands among the others of its pipeline: by its number, and a rerun where the first release stood that it runs again. So
 * what is newer than that stays newer, whatever the number of the rerun.
 */
export const placeOf = ({ number, place = number }: Pick<ActiveRelease, 'number' | 'place'>): number => place;

/** The place of a release that is active; of any other its number. */
export function placeIn({ active }: Pick<PipelineState, 'active'>, number: number): number {
  const release = active.find((each) => each.number === number);
  return release ? placeOf(release) : number;
}

/** Who holds a place now, as people know it: the last that runs the release again, while there is one. */
export const holderOf = ({ active }: Pick<PipelineState, 'active'>, place: number): number =>
  active.findLast((release) => placeOf(release) === place)?.number ?? place;

export const byPlace = (a: ActiveRelease, b: ActiveRelease): number => placeOf(a) - placeOf(b) || a.number - b.number;
