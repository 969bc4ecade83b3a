import { matchesAny } from '../pattern';

/** Whether patterns give all of a unit: each of its parts, or the whole by a pattern that names several itself. */
export const giveWhole = (patterns: readonly string[], unit: string): boolean =>
  partsOf(unit).every((part) => matchesAny(patterns, part)) ||
  matchesAny(
    patterns.filter((pattern) => pattern.includes('+')),
    unit,
  );

/** Whether patterns are about any part of a unit. */
export const areAbout = (patterns: readonly string[], unit: string): boolean =>
  matchesAny(patterns, unit) || partsOf(unit).some((part) => matchesAny(patterns, part));

/**
 * Splits a unit into the parts that it stands for. One of configuration has all paths of its pipeline in its name,
 * `flags/feed+payments:eu`, and stands for each of them as if it were alone; paths have no `+` themselves.
 */
function partsOf(unit: string): readonly string[] {
  const [, repository = '', paths = '', region = ''] = SEVERAL.exec(unit) ?? [];
  return paths === '' ? [unit] : paths.split('+').map((path) => `${repository}${path}${region}`);
}

const SEVERAL = /^([^/+:]+\/)([^:]+\+[^:]+)(:[^:]*)?$/;
