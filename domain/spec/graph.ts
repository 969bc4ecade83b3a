import { ancestors, dependencies } from '../release/graph';
import type { PipelineSpec } from './pipeline';

/** Where a consumer gets an artifact from (pipeline-spec.md, Graph), as releases resolve it, and where they could not. */
export type Source =
  | { readonly kind: 'release' }
  | { readonly kind: 'action'; readonly action: string }
  | { readonly kind: 'nobody' }
  | { readonly kind: 'ambiguous'; readonly actions: readonly string[] };

/** What must end before each action, by name. */
export type Edges = ReadonlyMap<string, readonly string[]>;

export const edgesOf = (spec: PipelineSpec): Edges => dependencies(spec.actions);

/**
 * Who produces an input of an action. One producer is an edge by itself. Of several it is the nearest ancestor by `needs`;
 * two of which neither comes before the other are ambiguous. What the release itself brings is the farthest ancestor.
 */
export function sourceOf({ actions, artifacts }: PipelineSpec, consumer: string, artifact: string): Source {
  const producers = Object.keys(actions).filter(
    (name) => name !== consumer && actions[name]?.outputs.includes(artifact),
  );
  const fromRelease = Object.hasOwn(artifacts, artifact);
  const [only] = producers;
  if (only === undefined) return { kind: fromRelease ? 'release' : 'nobody' };
  if (producers.length === 1) return { kind: 'action', action: only };
  const before = ancestors(actions, consumer);
  const candidates = producers.filter((name) => before.has(name));
  const nearest = candidates.filter(
    (name) => !candidates.some((other) => other !== name && ancestors(actions, other).has(name)),
  );
  const [found] = nearest;
  if (found === undefined) return fromRelease ? { kind: 'release' } : { kind: 'ambiguous', actions: producers };
  return nearest.length === 1 ? { kind: 'action', action: found } : { kind: 'ambiguous', actions: nearest };
}

/** Everything that comes before an action; itself only when it is part of a cycle. */
export function ancestorsOf(edges: Edges, action: string): Set<string> {
  const found = new Set<string>();
  const open = [...(edges.get(action) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    open.push(...(edges.get(next) ?? []));
  }
  return found;
}
