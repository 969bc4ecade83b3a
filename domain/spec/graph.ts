import type { PipelineSpec } from './pipeline';

/** Where a consumer gets an artifact from (pipeline-spec.md, Graph). */
export type Source =
  | { readonly kind: 'release' }
  | { readonly kind: 'action'; readonly action: string }
  | { readonly kind: 'nobody' }
  | { readonly kind: 'ambiguous'; readonly actions: readonly string[] };

/** The actions before each action: its `needs`, and the producers of its inputs. Names that do not exist are left out. */
export function edgesOf(spec: PipelineSpec): Map<string, Set<string>> {
  const edges = needsOf(spec);
  for (const [consumer, action] of Object.entries(spec.actions)) {
    for (const input of action.inputs) {
      const source = sourceOf(spec, consumer, input);
      if (source.kind === 'action') edges.get(consumer)?.add(source.action);
    }
  }
  return edges;
}

/**
 * Who produces an input of an action. One producer is an edge by itself. Of several it is the nearest ancestor by `needs`;
 * two of which neither comes before the other are ambiguous. What the release itself brings is the farthest ancestor.
 */
export function sourceOf(spec: PipelineSpec, consumer: string, artifact: string): Source {
  const producers = Object.entries(spec.actions)
    .filter(([name, action]) => name !== consumer && action.outputs.includes(artifact))
    .map(([name]) => name);
  const fromRelease = Object.hasOwn(spec.artifacts, artifact);
  const [only] = producers;
  if (only === undefined) return { kind: fromRelease ? 'release' : 'nobody' };
  if (producers.length === 1 && !fromRelease) return { kind: 'action', action: only };
  const needs = needsOf(spec);
  const before = ancestorsOf(needs, consumer);
  const candidates = producers.filter((name) => before.has(name));
  const nearest = candidates.filter((name) => !candidates.some((other) => ancestorsOf(needs, other).has(name)));
  const [found] = nearest;
  if (found === undefined) return fromRelease ? { kind: 'release' } : { kind: 'ambiguous', actions: producers };
  return nearest.length === 1 ? { kind: 'action', action: found } : { kind: 'ambiguous', actions: nearest };
}

/** Everything that comes before an action; itself only when it is part of a cycle. */
export function ancestorsOf(edges: ReadonlyMap<string, ReadonlySet<string>>, action: string): Set<string> {
  const found = new Set<string>();
  const open = [...(edges.get(action) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    open.push(...(edges.get(next) ?? []));
  }
  return found;
}

function needsOf(spec: PipelineSpec): Map<string, Set<string>> {
  const names = Object.entries(spec.actions);
  return new Map(
    names.map(([name, { needs }]) => [name, new Set(needs.filter((need) => Object.hasOwn(spec.actions, need)))]),
  );
}
