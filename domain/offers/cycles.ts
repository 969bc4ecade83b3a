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
export const findOfferCycle = (specs: OfferingSpecs, pipeline: string): readonly string[] | undefined =>
  findCycle({ specs, withReleases: false }, pipeline);

/**
 * As `findOfferCycle`, where an action also waits for the releases that its `wait-for` names. Such a circle need not hold for ever: the release may
 * have ended already.
 */
export const findWaitCycle = (specs: OfferingSpecs, pipeline: string): readonly string[] | undefined =>
  findCycle({ specs, withReleases: true }, pipeline);

/** The pipelines for whose releases a file waits. */
export const listAwaitedPipelines = ({ actions }: Pick<PipelineSpec, 'actions'>): string[] => [
  ...new Set(Object.values(actions).flatMap((action) => (action.type === 'wait-for' ? action.with.pipeline : []))),
];

interface Files {
  readonly specs: OfferingSpecs;
  /** Whether an action that waits for a release of another pipeline counts. */
  readonly withReleases: boolean;
}

function findCycle(files: Files, pipeline: string): readonly string[] | undefined {
  const done = new Set<string>();
  const actions = Object.keys(files.specs.get(pipeline)?.actions ?? {});
  for (const action of actions) {
    const cycle = findFrom(files, { pipeline, action }, [], done);
    if (cycle) return cycle;
  }
  return undefined;
}

interface Node {
  readonly pipeline: string;
  readonly action: string;
}

function findFrom(files: Files, node: Node, path: readonly string[], done: Set<string>): readonly string[] | undefined {
  const name = `${node.pipeline}/${node.action}`;
  const at = path.indexOf(name);
  if (at >= 0) return [...path.slice(at), name];
  if (done.has(name)) return undefined;
  for (const next of listAwaited(files, node)) {
    const cycle = findFrom(files, next, [...path, name], done);
    if (cycle) return cycle;
  }
  done.add(name);
  return undefined;
}

function listAwaited({ specs, withReleases }: Files, { pipeline, action }: Node): Node[] {
  const spec = specs.get(pipeline);
  if (spec?.actions[action] === undefined) return [];
  const needs = dependencies(spec.actions).get(action) ?? [];
  const waiting = spec.actions[action];
  const wished = (spec.wishes ?? []).filter((wish) => isWishedFor(wish, action, waiting));
  const taken = listTakenOffers(spec).filter(({ artifact }) => waiting.inputs.includes(artifact));
  const released = withReleases && waiting.type === 'wait-for' ? waiting.with.pipeline : '';
  return [
    ...needs.map((need) => ({ pipeline, action: need })),
    ...Object.keys(specs.get(released)?.actions ?? {}).map((awaited) => ({ pipeline: released, action: awaited })),
    ...[...wished, ...taken].flatMap(({ from, offer: name }): Node[] => {
      const other = specs.get(from);
      const offer = other?.offers?.find((one) => one.name === name);
      const maker = other && offer && findMaker(other, offer);
      return maker === undefined ? [] : [{ pipeline: from, action: maker }];
    }),
  ];
}
