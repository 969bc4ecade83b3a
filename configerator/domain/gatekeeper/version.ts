/** A version of an application, in the order of semver. */
export interface AppVersion {
  readonly numbers: readonly [number, number, number];
  readonly prerelease: readonly string[];
}

const NUMBER = '(0|[1-9]\\d{0,8})';
const PART = '(?:0|[1-9]\\d*|\\d*[A-Za-z-][0-9A-Za-z-]*)';
const SHORT = new RegExp(`^[vV]?${NUMBER}(?:\\.${NUMBER})?$`);
const FULL = new RegExp(
  `^[vV]?${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${PART}(?:\\.${PART})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);
const LONGEST = 256;

/** Undefined for a text that is not a version; `1.2` is 1.2.0. */
export function parseVersion(text: string): AppVersion | undefined {
  if (text.length > LONGEST) return undefined;
  const found = SHORT.exec(text.trim()) ?? FULL.exec(text.trim());
  if (!found) return undefined;
  const [, major = '0', minor = '0', patch = '0', prerelease] = found;
  return {
    numbers: [Number(major), Number(minor), Number(patch)],
    prerelease: prerelease === undefined ? [] : prerelease.split('.'),
  };
}

/** `1.2.3.4`, whose last number counts builds, becomes `1.2.3`; only users have such versions. Any other text stays unchanged. */
export const withoutBuildNumber = (text: string): string =>
  text.replace(/^(\s*[vV]?\d+\.\d+\.\d+)\.\d+(?=[-+\s]|$)/, '$1');

/** Less than 0 if the first is older. */
export function compareVersions(one: AppVersion, other: AppVersion): number {
  for (const at of [0, 1, 2] as const) {
    const difference = one.numbers[at] - other.numbers[at];
    if (difference !== 0) return difference;
  }
  return comparePrereleases(one.prerelease, other.prerelease);
}

/** A version without a prerelease is newer than any with one; more parts are newer than fewer. */
function comparePrereleases(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return other.length - one.length;
  for (const [at, mine] of one.entries()) {
    const theirs = other[at];
    if (theirs === undefined) return 1;
    if (mine !== theirs) return comparePart(mine, theirs);
  }
  return one.length - other.length;
}

/** Numbers are older than words. */
function comparePart(one: string, other: string): number {
  const [isNumber, isOther] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (isNumber && isOther) return Number(one) - Number(other);
  if (isNumber !== isOther) return isNumber ? -1 : 1;
  return one < other ? -1 : 1;
}
