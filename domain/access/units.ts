import { matchesAny } from '../pattern';

/** Whether patterns cover all of a unit: each of its parts, or the whole by a pattern that itself names several parts. */
export const giveWhole = (patterns: readonly string[], unit: string): boolean =>
  splitUnit(unit).every((part) => matchesAny(patterns, part)) ||
  matchesAny(
    patterns.filter((pattern) => pattern.includes('+')),
    unit,
  );

/** Whether any pattern matches a part of a unit. */
export const areAbout = (patterns: readonly string[], unit: string): boolean =>
  matchesAny(patterns, unit) || splitUnit(unit).some((part) => matchesAny(patterns, part));

/**
 * Splits a unit into its parts. A unit of configuration has all paths of its pipeline in its name,
 * `flags/feed+payments:eu`, and counts as one unit for each path; paths have no `+` themselves.
 */
function splitUnit(unit: string): readonly string[] {
  const [, repository = '', paths = '', region = ''] = SEVERAL.exec(unit) ?? [];
  return paths === '' ? [unit] : paths.split('+').map((path) => `${repository}${path}${region}`);
}

const SEVERAL = /^([^/+:]+\/)([^:]+\+[^:]+)(:[^:]*)?$/;
