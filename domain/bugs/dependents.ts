/** Who depends on a target, and how far away: a walk from the target outwards, which a circle of dependencies ends as well as a tree does. */

/** What directly depends on each target. */
export type Dependents = ReadonlyMap<string, readonly string[]>;

/** How a target is reached: by so many dependencies, the first of which leads to `via`; null at the target itself. */
export interface Reached {
  readonly depth: number;
  readonly via: string | null;
}

/** @param dependencies of each target, those that it names itself */
export function dependentsOf(dependencies: ReadonlyMap<string, readonly string[]>): Dependents {
  const dependents = new Map<string, string[]>();
  for (const [target, needed] of dependencies)
    for (const one of needed) {
      const known = dependents.get(one);
      if (known === undefined) dependents.set(one, [target]);
      else known.push(target);
    }
  return dependents;
}

/** All that depends on a target within so many dependencies, by the fewest of them; the target itself at depth 0. */
export function reachedFrom(dependents: Dependents, target: string, depth: number): ReadonlyMap<string, Reached> {
  const reached = new Map<string, Reached>([[target, { depth: 0, via: null }]]);
  // A map lists what is added meanwhile too: it is the queue.
  for (const [name, { depth: far }] of reached) {
    if (far >= depth) break;
    for (const one of dependents.get(name) ?? [])
      if (!reached.has(one)) reached.set(one, { depth: far + 1, via: name });
  }
  return reached;
}

/** From a target that was reached down to the one that the walk began at. */
export function pathDown(reached: ReadonlyMap<string, Reached>, from: string): readonly string[] {
  const path: string[] = [];
  for (let at: string | null = from; at !== null; at = reached.get(at)?.via ?? null) path.push(at);
  return path;
}
