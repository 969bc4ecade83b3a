import { conveyorError } from '../domain/errors';
import { findOfferCycle } from '../domain/offers/cycles';
import type { PipelineSpec } from '../domain/spec/pipeline';
import type { Workflows } from './workflows';

/** The number of pipelines that are asked for their files, and the time for that; ms. */
const [MAX_ASKED, WITHIN_MS] = [200, 5_000];

/**
 * Looks at the pipelines for whose offers this one wishes, and at those behind them, as they are now.
 * @returns notes: wishes that wait for now, and pipelines that were not asked
 * @throws offers-cycle if deploys would wait for each other
 */
export async function requireNoOfferCycle(workflows: Workflows, spec: PipelineSpec): Promise<readonly string[]> {
  if (spec.wishes === undefined) return [];
  const untilMs = Date.now() + WITHIN_MS;
  const known = new Map<string, Pick<PipelineSpec, 'actions' | 'offers' | 'wishes'>>([[spec.pipeline, spec]]);
  const asked = new Set([spec.pipeline]);
  let isWhole = true;
  for (let next = listPeers(spec); next.length > 0;) {
    const fresh = next.filter((name) => !asked.has(name)).slice(0, MAX_ASKED - asked.size);
    isWhole &&= Date.now() < untilMs && next.every((name) => asked.has(name) || fresh.includes(name));
    if (!isWhole) break;
    for (const name of fresh) asked.add(name);
    const found = await Promise.all(fresh.map((name) => workflows.pipelineState(name).catch(() => undefined)));
    for (const state of found) if (state && !state.retired) known.set(state.spec.pipeline, state.spec);
    next = found.flatMap((state) => (state ? listPeers(state.spec) : []));
    if (fresh.length === 0) break;
  }
  const cycle = findOfferCycle(known, spec.pipeline);
  if (cycle) throw conveyorError('offers-cycle', { pipeline: spec.pipeline, path: cycle.join(' → ') });
  return [
    ...spec.wishes.flatMap(({ from, offer }) =>
      known.get(from)?.offers?.some(({ name }) => name === offer)
        ? []
        : [`${from} has no offer ${offer} yet: deploys that wish for it wait`],
    ),
    ...(isWhole ? [] : ['not all pipelines behind its wishes were asked, so deploys might wait for each other']),
  ];
}

const listPeers = ({ wishes = [] }: Pick<PipelineSpec, 'wishes'>): string[] => wishes.map(({ from }) => from);
