/** A package on the disk of a host. */
export interface CachedPackage {
  readonly key: string;
  readonly bytes: number;
  /** The configuration names it, or an application uses it. */
  readonly isNeeded: boolean;
  /** The time of its last use, in milliseconds since 1970. */
  readonly wantedAt: number;
}

/** The packages to delete so that `bytes` more fit: none that are needed, the oldest first. Undefined if they do not fit. */
export function toRemove(
  shelved: readonly CachedPackage[],
  bytes: number,
  most: number,
): readonly string[] | undefined {
  let over = shelved.reduce((sum, one) => sum + one.bytes, bytes) - most;
  const gone: string[] = [];
  const spare = shelved.filter(({ isNeeded }) => !isNeeded).toSorted((a, b) => a.wantedAt - b.wantedAt);
  for (const one of spare) {
    if (over <= 0) break;
    gone.push(one.key);
    over -= one.bytes;
  }
  return over <= 0 ? gone : undefined;
}
