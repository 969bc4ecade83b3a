/** The used part of the package semver, which has no types. */
declare module 'semver' {
  /** Null if the text is not a semantic version; a leading `v` is dropped. */
  export function valid(version: string): string | null;
  /** Below 0 if `a` is older. @throws TypeError if a text is not a semantic version */
  export function compare(a: string, b: string): number;
  /** False if the text is not a semantic version, or the range is no range. */
  export function satisfies(version: string, range: string): boolean;
}
