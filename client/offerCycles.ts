import { conveyorError } from '../domain/errors';
import {
  findOfferCycle,
  findWaitCycle,
  listAwaitedPipelines,
  listNamedOffers,
  type OfferingSpec,
} from '../domain/offers/cycles';
import type { NamedOffer } from '../domain/offers/ofPipeline';
import type { PipelineSpec } from '../domain/spec/pipeline';
import type { Workflows } from './workflows';

/** The number of pipelines that are asked for their files, and the time for that; ms. */
const [MAX_ASKED, WITHIN_MS] = [200, 5_000];

/** @returns notes: offers that are not there yet, and pipelines that were not asked @throws offers-cycle if deploys would wait for each other */
export async function requireNoOfferCycle(workflows: Workflows, spec: PipelineSpec): Promise<readonly string[]> {
  const { cycle, notes } = await readOfferCycle(workflows, spec);
  if (cycle) throw conveyorError('offers-cycle', { pipeline: spec.pipeline, path: cycle.join(' → ') });
  return notes;
}

/** For an import, which restores records after an outage and is not refused for a file that was applied before. */
export async function noteOfferCycle(workflows: Workflows, spec: PipelineSpec): Promise<readonly string[]> {
  const { cycle, waits } = await readOfferCycle(workflows, spec);
  return cycle
    ? [`deploys of its file will wait for each other: ${cycle.join(' → ')}; correct the file, and apply it`]
    : waits;
}

/** Looks at the pipelines whose offers this one wishes for or takes as artifacts, and at those behind them, as they are now. */
async function readOfferCycle(workflows: Workflows, spec: PipelineSpec): Promise<CycleFindings> {
  const named = listNamedOffers(spec);
  const isAwaited = (spec.offers ?? []).length > 0 && listAwaitedPipelines(spec).length > 0;
  if (named.length === 0 && !isAwaited) return { cycle: undefined, waits: [], notes: [] };
  const { known, isWhole } = await readSpecs(workflows, spec);
  const cycle = findOfferCycle(known, spec.pipeline);
  const isKnown = ({ from, offer }: NamedOffer): boolean =>
    known.get(from)?.offers?.some(({ name }) => name === offer) === true;
  const missing = named.filter((one) => !isKnown(one));
  const notes = missing.map(({ from, offer }) => `${from} has no offer ${offer} yet: what needs it waits`);
  const waits = cycle ? [] : noteWaits(findWaitCycle(known, spec.pipeline));
  return { cycle, waits, notes: [...notes, ...waits, ...(isWhole ? [] : [NOT_WHOLE])] };
}

interface CycleFindings {
  readonly cycle: readonly string[] | undefined;
  /** Notes about circles through a `wait-for`, of which none is an error. */
  readonly waits: readonly string[];
  /** All notes, if it is no error. */
  readonly notes: readonly string[];
}

const noteWaits = (cycle: readonly string[] | undefined): string[] =>
  cycle
    ? [
        `a wait-for may wait for ever: ${cycle.join(' → ')}; unless the release that it waits for has ended before, move it after the deploy that makes the offer, or remove the wish`,
      ]
    : [];

const NOT_WHOLE = 'not all pipelines behind its offers were asked, so deploys might wait for each other';

async function readSpecs(workflows: Workflows, spec: PipelineSpec) {
  const untilMs = Date.now() + WITHIN_MS;
  const known = new Map<string, OfferingSpec>([[spec.pipeline, spec]]);
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
  return { known, isWhole };
}

const listPeers = (spec: OfferingSpec): string[] => [
  ...listNamedOffers(spec).map(({ from }) => from),
  ...listAwaitedPipelines(spec),
];
