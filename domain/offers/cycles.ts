import { dependencies } from '../release/graph';
import type { PipelineSpec } from '../spec/pipeline';
import { findMaker, isWishedFor, listTakenOffers, type NamedOffer } from './ofPipeline';

/** The pipelines that are known, by name; those that wish of each other may wait for each other. */
export type OfferingSpecs = ReadonlyMap<string, OfferingSpec>;
export type OfferingSpec = Pick<PipelineSpec, 'actions' | 'artifacts' | 'offers' | 'wishes'>;

/** The offers of other pipelines that a file names, each once. */
export function listNamedOffers(spec: Pick<PipelineSpec, 'artifacts' | 'wishes'>): NamedOffer[] {
  const all = [...(spec.wishes ?? []), ...listTakenOffers(spec)].map(({ from, offer }) => ({ from, offer }));
  return [...new Map(all.map((one) => [`${one.from}/${one.offer}`, one])).values()];
}

/**
 * A circle of actions of which each waits for the next, from an action of this pipeline: `auth/deploy`, `net/deploy`, `auth/deploy`. Undefined if
 * there is none. An action waits for its needs, and for the deploys that make the offers that it wishes for or takes as an artifact. The circle is between actions, not
 * pipelines: two pipelines may wish of each other (µs, section 4.1).
 */
export function findOfferCycle(specs: OfferingSpecs, pipeline: string): readonly string[] | undefined {
  const done = new Set<string>();
  const actions = Object.keys(specs.get(pipeline)?.actions ?? {});
  for (const action of actions) {
    const cycle = findFrom(specs, { pipeline, action }, [], done);
    if (cycle) return cycle;
  }
  return undefined;
}

interface Node {
  readonly pipeline: string;
  readonly action: string;
}

function findFrom(
  specs: OfferingSpecs,
  node: Node,
  path: readonly string[],
  done: Set<string>,
): readonly string[] | undefined {
  const name = `${node.pipeline}/${node.action}`;
  const at = path.indexOf(name);
  if (at >= 0) return [...path.slice(at), name];
  if (done.has(name)) return undefined;
  for (const next of listAwaited(specs, node)) {
    const cycle = findFrom(specs, next, [...path, name], done);
    if (cycle) return cycle;
  }
  done.add(name);
  return undefined;
}

function listAwaited(specs: OfferingSpecs, { pipeline, action }: Node): Node[] {
  const spec = specs.get(pipeline);
  if (spec?.actions[action] === undefined) return [];
  const needs = dependencies(spec.actions).get(action) ?? [];
  const waiting = spec.actions[action];
  const wished = (spec.wishes ?? []).filter((wish) => isWishedFor(wish, action, waiting));
  const taken = listTakenOffers(spec).filter(({ artifact }) => waiting.inputs.includes(artifact));
  return [
    ...needs.map((need) => ({ pipeline, action: need })),
    ...[...wished, ...taken].flatMap(({ from, offer: name }): Node[] => {
      const other = specs.get(from);
      const offer = other?.offers?.find((one) => one.name === name);
      const maker = other && offer && findMaker(other, offer);
      return maker === undefined ? [] : [{ pipeline: from, action: maker }];
    }),
  ];
}
