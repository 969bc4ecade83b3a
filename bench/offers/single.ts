import { setTimeout as delay } from 'node:timers/promises';
import { workflowIds } from '../../domain/ids';
import { median, medianAndSpan } from '../actions';
import type { Bench } from '../services';
import { print } from '../stack';
import { addDeploy, countEvents, OFFER, placeOffer, releaseToEnd, requireSuccess, sum } from './pipelines';

/** A single service whose wish is satisfied, and one that makes an offer, against one with neither (µs, Figure 9). */
const KINDS = ['plain', 'wishes', 'offers'] as const;
type Kind = (typeof KINDS)[number];

/** The service whose offer satisfies the wish. */
const NET = 'net';
/** By then the pipeline and the offers have recorded the end of a release. */
const RECORDED_MS = 1_000;

const PARTS = ['release', 'deploy', 'pipeline', 'offers'] as const;
type Part = (typeof PARTS)[number];

interface Cost {
  readonly ms: number;
  /** The part of it that was not the deploy. */
  readonly besideMs: number;
  /** `offers`: of the workflow that keeps the offers which the release uses or makes. */
  readonly events: Readonly<Record<Part, number>>;
}

export async function measureSingle(bench: Bench, rounds: number, bake: string): Promise<void> {
  await addDeploy(bench, NET, { bake: '0s', offers: [placeOffer()] });
  await releaseToEnd(bench, NET);
  await addDeploy(bench, 'plain', { bake });
  await addDeploy(bench, 'wishes', { bake, wishes: [{ from: NET, offer: OFFER, version: '^1' }] });
  await addDeploy(bench, 'offers', { bake, offers: [placeOffer()] });
  // The first releases fill caches, and start workflows that the later ones find.
  for (const kind of KINDS) await releaseToEnd(bench, kind);
  const costs: Record<Kind, Cost[]> = { plain: [], wishes: [], offers: [] };
  for (let round = 1; round <= rounds; round += 1) {
    for (const kind of KINDS) costs[kind].push(await measureRelease(bench, kind, round + 1));
    process.stderr.write(`single, round ${round}: done\n`);
  }
  await requireSuccess(bench, KINDS);
  print(listRows(costs));
}

async function measureRelease(bench: Bench, kind: Kind, nth: number): Promise<Cost> {
  const before = await countLasting(bench, kind);
  const from = Date.now();
  await releaseToEnd(bench, kind, nth);
  const ms = Date.now() - from;
  await delay(RECORDED_MS);
  const after = await countLasting(bench, kind);
  const [release, deploy] = [workflowIds.release(kind, nth), workflowIds.deploy(kind, nth, 'deploy', 1)];
  return {
    ms,
    besideMs: (await measureSpan(bench, release)) - (await measureSpan(bench, deploy)),
    events: {
      release: await countEvents(bench, release),
      deploy: await countEvents(bench, deploy),
      pipeline: after.pipeline - before.pipeline,
      offers: after.offers - before.offers,
    },
  };
}

/** The events so far of the workflows that outlast a release. */
async function countLasting(bench: Bench, kind: Kind): Promise<Record<'pipeline' | 'offers', number>> {
  const offers = workflowIds.offers(kind === 'offers' ? kind : NET);
  return {
    pipeline: await countEvents(bench, workflowIds.pipeline(kind)),
    offers: await countEvents(bench, offers),
  };
}

/** From the start of a workflow to its end, by the server's clock; ms. */
async function measureSpan({ temporal }: Bench, id: string): Promise<number> {
  const { startTime, closeTime } = await temporal.workflow.getHandle(id).describe();
  return (closeTime?.getTime() ?? NaN) - startTime.getTime();
}

function listRows({ plain, wishes, offers }: Record<Kind, Cost[]>): (readonly [string, string])[] {
  const time = (costs: readonly Cost[]) => medianAndSpan(costs.map(({ ms }) => ms));
  const beside = (costs: readonly Cost[]) => medianAndSpan(costs.map(({ besideMs }) => besideMs));
  const ratio = (costs: readonly Cost[]) =>
    (median(costs.map(({ ms }) => ms)) / median(plain.map(({ ms }) => ms))).toFixed(3);
  const events = (costs: readonly Cost[], part: Part) => median(costs.map((cost) => cost.events[part]));
  const added = (costs: readonly Cost[]) =>
    sum((['release', 'deploy', 'pipeline'] as const).map((part) => events(costs, part) - events(plain, part)));
  const all = [plain, wishes, offers];
  return [
    ['a release without wishes (min to max)', time(plain)],
    ['… whose wish is satisfied, ratio of medians', `${time(wishes)}, ${ratio(wishes)}`],
    ['… that makes an offer, ratio of medians', `${time(offers)}, ${ratio(offers)}`],
    ['a release without wishes, except its deploy (min to max)', beside(plain)],
    ['… whose wish is satisfied', beside(wishes)],
    ['… that makes an offer', beside(offers)],
    ...PARTS.filter((part) => part !== 'offers').map(
      (part) =>
        [
          `events of the ${part}: without wishes, with one, with an offer`,
          all.map((costs) => events(costs, part)).join(', '),
        ] as const,
    ),
    ['events that a satisfied wish adds on its own side', String(added(wishes))],
    ['events that an offer adds on its own side', String(added(offers))],
    ['events of the offers for a deploy that uses one', String(events(wishes, 'offers'))],
    ['events of the offers for a deploy that makes one', String(events(offers, 'offers'))],
  ];
}
