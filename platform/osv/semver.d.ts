/** The part of the package semver that is used; it comes without types. */
declare module 'semver' {
  /** Null of what is not a semantic version; a `v` in front is none of it. */
  export function valid(version: string): string | null;
  /** Below 0 where `a` is the older one. @throws TypeError of what is not a semantic version */
  export function compare(a: string, b: string): number;
}
