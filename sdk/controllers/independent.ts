/** For each item, by index, the items that it excludes; exclusion is mutual. */
export type Conflicts = readonly ReadonlySet<number>[];

/**
 * A large set of items that do not exclude each other: a greedy search and then exchanges, in which one taken item
 * makes room for two. No further item fits. The same conflicts always give the same set.
 */
export function largestIndependent(conflicts: Conflicts): Set<number> {
  const taken = greedy(conflicts, conflicts.keys());
  while ([...taken].some((index) => tryExchange(conflicts, taken, index)));
  return taken;
}

/** Repeatedly takes the item that excludes the fewest of those left. */
function greedy(conflicts: Conflicts, among: Iterable<number>): Set<number> {
  const open = new Set(among);
  const left = new Map([...open].map((index) => [index, listConflicts(conflicts, index, open).length]));
  const taken = new Set<number>();
  while (open.size > 0) {
    let least: number | undefined;
    for (const index of open)
      if (least === undefined || conflictsLeft(left, index) < conflictsLeft(left, least)) least = index;
    if (least === undefined) break;
    taken.add(least);
    open.delete(least);
    for (const other of listConflicts(conflicts, least, open)) {
      open.delete(other);
      for (const next of listConflicts(conflicts, other, open)) left.set(next, conflictsLeft(left, next) - 1);
    }
  }
  return taken;
}

/** Whether several items could replace a taken one. */
function tryExchange(conflicts: Conflicts, taken: Set<number>, index: number): boolean {
  const waiting = [...(conflicts[index] ?? [])].filter((other) => listConflicts(conflicts, other, taken).length === 1);
  const better = greedy(conflicts, waiting);
  if (better.size < 2) return false;
  taken.delete(index);
  for (const other of better) taken.add(other);
  return true;
}

const listConflicts = (conflicts: Conflicts, index: number, among: ReadonlySet<number>): number[] =>
  [...(conflicts[index] ?? [])].filter((other) => among.has(other));

const conflictsLeft = (left: ReadonlyMap<number, number>, index: number): number => left.get(index) ?? 0;
