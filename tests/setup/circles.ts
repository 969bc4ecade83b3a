import { importsOf } from './exports';
import type { Source } from './sources';

/** Files that import each other in a circle, even if they import only types: each circle once, its files in order. */
export function circles(sources: readonly Source[]): string[][] {
  const names = new Set(sources.map(({ name }) => name));
  const imports = new Map(sources.map((source) => [source.name, importsOf(source, names)]));
  const reached = new Map(sources.map(({ name }) => [name, reachedFrom(name, imports)]));
  const found = new Map<string, string[]>();
  for (const name of names) {
    const circle = [...(reached.get(name) ?? [])].filter((other) => reached.get(other)?.has(name)).sort();
    if (circle.length > 0) found.set(circle.join(), circle);
  }
  return [...found.values()];
}

/** All direct and indirect imports of a file; itself only through a circle. */
function reachedFrom(start: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>();
  const next = [...(imports.get(start) ?? [])];
  for (let file = next.pop(); file !== undefined; file = next.pop()) {
    if (reached.has(file)) continue;
    reached.add(file);
    next.push(...(imports.get(file) ?? []));
  }
  return reached;
}
