import { setTimeout as delay } from 'node:timers/promises';
import { workflowIds } from '../../domain/ids';
import { pipelineSchema } from '../../domain/spec/pipeline';
import { OWNER, release, type Bench } from '../services';
import { each, print } from '../stack';
import {
  addDeploy,
  applyDeploy,
  countEvents,
  countWaiting,
  formatShares,
  measureSpent,
  OFFER,
  placeOffer,
  releaseToEnd,
  releaseToWait,
  sum,
  type PrintRow,
} from './pipelines';

/** Many deploys that wait for offers of three pipelines each, of which one has another version, against as many releases that wait for a person. */
const IDLE_MS = 120_000;
const SETTLED_MS = 30_000;
const OFFERING = ['net-1', 'net-2', 'net-3'];

export async function measureIdle(bench: Bench, pipelines: number): Promise<void> {
  const name = (what: string): string[] => Array.from({ length: pipelines }, (_, nth) => `${what}-${nth + 1}`);
  const [held, wishing] = [name('held'), name('wishes')];
  for (const one of OFFERING) {
    await addDeploy(bench, one, { bake: '0s', offers: [placeOffer()] });
    await releaseToEnd(bench, one);
  }
  await each(held, 20, (one) => holdRelease(bench, one));
  print(await measureWait(bench, held, `${pipelines} releases wait for a person`));
  const wishes = OFFERING.map((from, nth) => ({ from, offer: OFFER, version: nth === 2 ? '^2' : '^1' }));
  await each(wishing, 20, (one) => applyDeploy(bench, one, { bake: '0s', wishes }));
  await releaseToWait(bench, wishing);
  print(await measureWait(bench, wishing, `${pipelines} deploys wait for three wishes each, too`));
}

async function holdRelease(bench: Bench, pipeline: string): Promise<void> {
  const file = {
    ...{ pipeline, owners: [OWNER], artifacts: { executable: { finder: 'manual' } } },
    actions: { pick: { type: 'manual-pick', inputs: ['executable'] } },
  };
  await bench.client.apply(pipelineSchema.parse(file), OWNER);
  await release(bench, pipeline, 1);
}

async function measureWait(bench: Bench, names: readonly string[], what: string): Promise<PrintRow[]> {
  await delay(SETTLED_MS);
  const [before, others] = [await countWaiting(bench, names), await countOthers(bench, names)];
  const spent = await measureSpent(bench, () => delay(IDLE_MS));
  const [after, othersAfter] = [await countWaiting(bench, names), await countOthers(bench, names)];
  const events = after.events - before.events + othersAfter - others;
  return [
    [`share of a core while ${what}`, `${formatShares(spent)}, ${after.looks - before.looks} looks`],
    ['events while they wait, two minutes', String(events)],
  ];
}

/** The events of the pipelines and of the offers. */
async function countOthers(bench: Bench, names: readonly string[]): Promise<number> {
  const ids = [...names.map(workflowIds.pipeline), ...OFFERING.map(workflowIds.offers)];
  return sum(await each(ids, 20, (id) => countEvents(bench, id)));
}
