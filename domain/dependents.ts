/** The dependents of a target and their distances: a breadth-first walk that also ends on cycles. */

/** The direct dependents of each target. */
export type Dependents = ReadonlyMap<string, readonly string[]>;

/** How a target is reached: the number of dependencies, and the next one, `via`; null at the target itself. */
export interface DependencyRoute {
  readonly depth: number;
  readonly via: string | null;
}

/** @param dependencies the direct dependencies of each target */
export function invertDependencies(dependencies: ReadonlyMap<string, readonly string[]>): Dependents {
  const dependents = new Map<string, string[]>();
  for (const [target, needed] of dependencies)
    for (const one of needed) {
      const known = dependents.get(one);
      if (known === undefined) dependents.set(one, [target]);
      else known.push(target);
    }
  return dependents;
}

/** All dependents of a target up to a depth, by their shortest chain; the target itself at depth 0. */
export function walkDependents(
  dependents: Dependents,
  target: string,
  depth: number,
): ReadonlyMap<string, DependencyRoute> {
  const reached = new Map<string, DependencyRoute>([[target, { depth: 0, via: null }]]);
  // Iterating a map includes entries added meanwhile, so it serves as the queue.
  for (const [name, { depth: far }] of reached) {
    if (far >= depth) break;
    for (const one of dependents.get(name) ?? [])
      if (!reached.has(one)) reached.set(one, { depth: far + 1, via: name });
  }
  return reached;
}

/** The chain from a reached target down to the start of the walk. */
export function pathDown(reached: ReadonlyMap<string, DependencyRoute>, from: string): readonly string[] {
  const path: string[] = [];
  for (let at: string | null = from; at !== null; at = reached.get(at)?.via ?? null) path.push(at);
  return path;
}
