import { judge } from '../chaos/judge';
import { play } from '../chaos/play';
import { scenarioOf } from '../chaos/scenario';
import { VirtualWorld } from './world';

/** `npm run chaos -- --seeds N --from S` sets it to `S:N`; as part of the tests only a few run. */
const [from = 1, count = 8] = (process.env['CONVEYOR_CHAOS'] ?? '').split(':').flatMap((text) => Number(text) || []);
const SEEDS = Array.from({ length: count }, (_, index) => from + index);

/** Worlds are dear, so that stories share one until it has seen one that failed. */
let world: VirtualWorld | null = null;
let failed = false;
beforeEach(async () => {
  failed = true;
  world ??= await VirtualWorld.open();
});
afterEach(async () => {
  if (!failed) return;
  await world?.close().catch(() => undefined);
  world = null;
});
afterAll(() => world?.close());

async function survives(seed: number): Promise<void> {
  if (world === null) throw new Error('no world');
  const lines = [`chaos seed ${seed}`];
  process.stderr.write(`${lines[0]}\n`);
  try {
    const scenario = scenarioOf(seed);
    lines.push(JSON.stringify(scenario.source.actions), JSON.stringify(scenario.jobs));
    await play(world, scenario, (line) => lines.push(line));
    await judge(world, scenario);
    failed = false;
  } catch (error) {
    process.stderr.write(`${lines.join('\n')}\nagain: npm run chaos -- --seeds 1 --from ${seed}\n`);
    throw error;
  }
}

test.each(SEEDS)('whatever goes wrong and whoever presses what, nothing unsafe happens: seed %d', survives);
