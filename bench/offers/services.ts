import { workflowIds } from '../../domain/ids';
import { median } from '../actions';
import { release, releaseEnded, type Bench } from '../services';
import { each, print, seconds } from '../stack';
import { addDeploy, OFFER, placeOffer, releaseToEnd, releaseToWait, requireSuccess, type PrintRow } from './pipelines';

/**
 * Services that depend on each other (µs, Figure 10): `parallel`, all wish for the offer of the first; `chain`, each wishes for the offer of the one
 * before. All others wait already when the first is released. For comparison, as many services without wishes are released by hand, each as soon as
 * those before it have ended; and all of them at once, without an order.
 */
const SHAPES = ['parallel', 'chain'] as const;
type Shape = (typeof SHAPES)[number];

interface Times {
  readonly wishes: number[];
  readonly byHand: number[];
  readonly atOnce: number[];
}

export async function measureServices(
  bench: Bench,
  sizes: readonly number[],
  rounds: number,
  bake: string,
): Promise<void> {
  if (sizes.some((size) => size < 2)) throw new Error('one service depends on no other: 2 is the least');
  // Fills caches.
  await timeWishes(bench, 'chain', nameServices('warm', 2), '0s');
  for (const size of sizes) {
    for (const shape of SHAPES) {
      const times: Times = { wishes: [], byHand: [], atOnce: [] };
      for (let round = 1; round <= rounds; round += 1) await runRound(bench, { shape, size, round, bake }, times);
      print(listRows(shape, size, times));
    }
  }
}

interface Round {
  readonly shape: Shape;
  readonly size: number;
  readonly round: number;
  readonly bake: string;
}

/** Each round has services of its own, because offers that are made stay. */
async function runRound(bench: Bench, { shape, size, round, bake }: Round, times: Times): Promise<void> {
  const name = (way: string) => nameServices(`${shape}-${size}-${round}-${way}`, size);
  const [wish, hand, once] = [name('wish'), name('hand'), name('once')];
  times.wishes.push(await timeWishes(bench, shape, wish, bake));
  times.byHand.push(await timeWaves(bench, listWaves(shape, hand), bake));
  if (shape === 'parallel') times.atOnce.push(await timeWaves(bench, [once], bake));
  process.stderr.write(`${shape} of ${size}, round ${round}: done\n`);
}

const nameServices = (group: string, size: number): string[] =>
  Array.from({ length: size }, (_, nth) => `${group}-${nth + 1}`);

/** From the release of the first service until the end of the last release; ms. */
async function timeWishes(bench: Bench, shape: Shape, names: readonly string[], bake: string): Promise<number> {
  const [first = '', ...others] = names;
  const offering = shape === 'chain' ? names.slice(0, -1) : [first];
  await each(names, 8, (name) => {
    const from = shape === 'chain' ? names[names.indexOf(name) - 1] : first;
    const wishes = name === first || from === undefined ? {} : { wishes: [{ from, offer: OFFER }] };
    return addDeploy(bench, name, { bake, ...wishes, ...(offering.includes(name) ? { offers: [placeOffer()] } : {}) });
  });
  await releaseToWait(bench, others);
  const from = Date.now();
  await release(bench, first, 1);
  await Promise.all(names.map((name) => releaseEnded(bench.temporal, workflowIds.release(name, 1))));
  const tookMs = Date.now() - from;
  await requireSuccess(bench, names);
  return tookMs;
}

/** The services that a person releases together, in order. */
const listWaves = (shape: Shape, names: readonly string[]): string[][] =>
  shape === 'chain' ? names.map((name) => [name]) : [names.slice(0, 1), names.slice(1)];

async function timeWaves(bench: Bench, waves: readonly (readonly string[])[], bake: string): Promise<number> {
  const names = waves.flat();
  await each(names, 8, (name) => addDeploy(bench, name, { bake }));
  const from = Date.now();
  for (const wave of waves) await Promise.all(wave.map((name) => releaseToEnd(bench, name)));
  const tookMs = Date.now() - from;
  await requireSuccess(bench, names);
  return tookMs;
}

function listRows(shape: Shape, size: number, { wishes, byHand, atOnce }: Times): PrintRow[] {
  const hops = shape === 'chain' ? size - 1 : 1;
  const overMs = median(wishes) - median(byHand);
  const percent = (100 * overMs) / median(byHand);
  const format = (times: readonly number[]): string =>
    `${seconds(median(times))} (${seconds(Math.min(...times))} to ${seconds(Math.max(...times))})`;
  const atOnceRows: PrintRow[] =
    atOnce.length === 0
      ? []
      : [
          ['… all at once, without an order', format(atOnce)],
          ['… ratio of medians, with wishes and all at once', (median(wishes) / median(atOnce)).toFixed(2)],
        ];
  return [
    [`${shape}, ${size} services with wishes (min to max)`, format(wishes)],
    [shape === 'chain' ? '… one after the other by hand' : '… the first and then the others by hand', format(byHand)],
    ...atOnceRows,
    [`overhead of a hop, ${shape} of ${size}`, `${(overMs / hops / 1000).toFixed(2)} s, ${percent.toFixed(1)}%`],
  ];
}
