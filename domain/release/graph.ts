import type { Artifact } from '../artifact';
import type { PipelineSpec } from '../spec/pipeline';

/** The DAG of a pipeline: `needs` plus the producer of each input (docs/design/pipeline.md#graph). */

type Actions = PipelineSpec['actions'];

/** The actions that must end before each action, by name. */
export type Edges = ReadonlyMap<string, readonly string[]>;

/** The source of an artifact for an action. */
export type Source =
  /** No action makes it: it comes with the release, or not at all. */
  | { readonly kind: 'outside' }
  | { readonly kind: 'action'; readonly action: string }
  /** Only later actions make it, so it too can only come with the release. */
  | { readonly kind: 'later'; readonly actions: readonly string[] }
  /** Several actions make it, and none of them is the nearest. */
  | { readonly kind: 'ambiguous'; readonly actions: readonly string[] };

/** The actions that must end before each action, by name. */
export const dependencies = (actions: Actions): Edges => getActionGraph(actions).edges;

/**
 * The producer of an artifact for an action: the nearest of those before it, which is the one that no other comes
 * after. If only one action can make an input, the input is an edge to that action. If several can, the order must
 * decide.
 */
export const findInputSource = (actions: Actions, consumer: string, artifact: string): Source =>
  nearestProducer(actions, getActionGraph(actions).above, consumer, artifact);

/**
 * The producers of an artifact that no other producer comes after. If there are several, it is unknown which ends last.
 */
export function lastProducers(actions: Actions, artifact: string): readonly string[] {
  const { above } = getActionGraph(actions);
  const makers = Object.keys(actions).filter((name) => actions[name]?.outputs.includes(artifact));
  return makers.filter((name) => !makers.some((other) => above.get(other)?.has(name)));
}

/**
 * The actions that pass an artifact on if they do not make it, nearest first, and the end of that chain: a skipped producer passes
 * on the value that it would have received.
 */
export function tracePassages(
  actions: Actions,
  consumer: string,
  artifact: string,
): { readonly through: readonly string[]; readonly end: Exclude<Source, { kind: 'action' }> } {
  const through: string[] = [];
  for (
    let source = findInputSource(actions, consumer, artifact);
    ;
    source = findInputSource(actions, source.action, artifact)
  ) {
    if (source.kind !== 'action') return { through, end: source };
    // This happens only in a cycle, which lint rejects.
    if (through.includes(source.action)) return { through, end: { kind: 'outside' } };
    through.push(source.action);
  }
}

/** All actions before an action; they include itself only in a cycle, which lint rejects. */
export function ancestors(edges: Edges, name: string): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...(edges.get(name) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    open.push(...(edges.get(next) ?? []));
  }
  return found;
}

/** The value of each input of an action. */
export function resolveInputs(
  actions: Actions,
  name: string,
  given: readonly Artifact[],
  outputs: (action: string) => readonly Artifact[],
): Artifact[] {
  return (actions[name]?.inputs ?? []).flatMap((input) => artifactValues(actions, name, input, given, outputs));
}

/**
 * The value of an artifact for an action: the output of its producer. A producer that did not make it, because it was skipped or
 * failed, passes on the value that it would have received. The end of the chain is the input of the release.
 */
export function artifactValues(
  actions: Actions,
  name: string,
  artifact: string,
  given: readonly Artifact[],
  outputs: (action: string) => readonly Artifact[],
): Artifact[] {
  const source = findInputSource(actions, name, artifact);
  const values = source.kind === 'action' ? outputs(source.action) : given;
  const found = values.filter((value) => value.name === artifact);
  return source.kind === 'action' && found.length === 0
    ? artifactValues(actions, source.action, artifact, given, outputs)
    : found;
}

type Above = ReadonlyMap<string, ReadonlySet<string>>;

interface Graph {
  readonly edges: Edges;
  readonly above: Above;
}

/** A release asks for the graph of its pinned spec at every step. */
// eslint-disable-next-line no-restricted-syntax -- by an object that one workflow has; the answer depends on nothing else
const graphs = new WeakMap<Actions, Graph>();

function getActionGraph(actions: Actions): Graph {
  const graph = graphs.get(actions) ?? resolveEdges(actions);
  graphs.set(actions, graph);
  return graph;
}

/**
 * Adds the producers of inputs to `needs`. An input with one possible producer makes an edge. The edge may show that a
 * producer of another input comes too late, so that only one is left for that input; hence the rounds. If several
 * producers are possible, the choice of the nearest adds no order that did not exist before. So it cannot invalidate an
 * earlier choice.
 */
function resolveEdges(actions: Actions): Graph {
  let edges: Edges = new Map(Object.entries(actions).map(([name, { needs }]) => [name, needs]));
  let above = allAncestors(edges);
  for (let before = -1; before < size(edges); above = allAncestors(edges)) {
    before = size(edges);
    edges = withProducers(actions, edges, (consumer, artifact) => {
      const possible = possibleProducers(actions, above, consumer, artifact);
      return possible.length === 1 ? possible[0] : undefined;
    });
  }
  const whole = withProducers(actions, edges, (consumer, artifact) => {
    const source = nearestProducer(actions, above, consumer, artifact);
    return source.kind === 'action' ? source.action : undefined;
  });
  return { edges: whole, above };
}

function nearestProducer(actions: Actions, above: Above, consumer: string, artifact: string): Source {
  const possible = possibleProducers(actions, above, consumer, artifact);
  const before = possible.filter((name) => above.get(consumer)?.has(name));
  const [first, ...others] = before.filter((name) => !before.some((other) => above.get(other)?.has(name)));
  if (first !== undefined)
    return others.length === 0 ? { kind: 'action', action: first } : { kind: 'ambiguous', actions: [first, ...others] };
  if (possible.length > 0) return { kind: 'ambiguous', actions: possible };
  const later = listProducers(actions, consumer, artifact);
  return later.length > 0 ? { kind: 'later', actions: later } : { kind: 'outside' };
}

function withProducers(
  actions: Actions,
  edges: Edges,
  producerOf: (consumer: string, artifact: string) => string | undefined,
): Edges {
  return new Map(
    Object.entries(actions).map(([name, { inputs }]) => {
      const producers = inputs.flatMap((input) => producerOf(name, input) ?? []);
      return [name, [...new Set([...(edges.get(name) ?? []), ...producers])]];
    }),
  );
}

/** The producers that do not come after the consumer. */
const possibleProducers = (actions: Actions, above: Above, consumer: string, artifact: string): string[] =>
  listProducers(actions, consumer, artifact).filter((name) => !above.get(name)?.has(consumer));

const listProducers = (actions: Actions, consumer: string, artifact: string): string[] =>
  Object.keys(actions).filter((name) => name !== consumer && actions[name]?.outputs.includes(artifact));

const allAncestors = (edges: Edges): Above => new Map([...edges.keys()].map((name) => [name, ancestors(edges, name)]));

const size = (edges: Edges): number => [...edges.values()].reduce((sum, needs) => sum + needs.length, 0);

/** The inputs of an action that have no value, such as those whose producers were all skipped. */
export const findMissingInputs = (action: Pick<Actions[string], 'inputs'>, values: readonly Artifact[]): string[] =>
  action.inputs.filter((input) => !values.some(({ name }) => name === input));
