import type { ActiveRelease, PipelineState } from './state';

/**
 * The place of a release among the others of its pipeline: its number or, for a rerun, the number of the first release that it repeats. So a
 * release that is newer than that one stays newer, even if the rerun has a higher number.
 */
export const getReleasePlace = ({ number, place = number }: Pick<ActiveRelease, 'number' | 'place'>): number => place;

/** The place of an active release; for any other, its number. */
export function placeIn({ active }: Pick<PipelineState, 'active'>, number: number): number {
  const release = active.find((each) => each.number === number);
  return release ? getReleasePlace(release) : number;
}

/** The present holder of a place, as people know it: the last active release that repeats it, if there is one. */
export const findPlaceHolder = ({ active }: Pick<PipelineState, 'active'>, place: number): number =>
  active.findLast((release) => getReleasePlace(release) === place)?.number ?? place;

export const byPlace = (a: ActiveRelease, b: ActiveRelease): number =>
  getReleasePlace(a) - getReleasePlace(b) || a.number - b.number;
