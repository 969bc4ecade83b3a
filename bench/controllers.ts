import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAILURE, runFigure14, type Moment } from './controllers/figure14';
import { drawPlot } from './controllers/plot';

/**
 * `npx jiti bench/controllers.ts`: the experiment of Twine §5.1 in the simulated world, as the paper's Figure 14 draws it, into
 * docs/images. The same seed always gives the same picture.
 */
async function main(): Promise<void> {
  const { moments, waves } = await runFigure14('x-msb1');
  const curve = (label: string, colour: string, value: (moment: Moment) => number) => ({
    label,
    colour,
    points: moments.map((moment) => [moment.at, value(moment)] as const),
  });
  const svg = drawPlot({
    xLabel: 'seconds since the update began',
    spans: [{ ...{ from: FAILURE.from, to: FAILURE.until }, label: '50 tasks down' }],
    panels: [
      {
        title: 'Tasks',
        curves: [
          curve('waiting for leave', '#c60', ({ pending }) => pending),
          curve('being updated', '#06c', ({ updating }) => updating.length),
        ],
      },
      {
        title: 'Shards of 15,000',
        curves: [
          curve('one replica down', '#06c', ({ oneDown }) => oneDown),
          curve('two replicas down', '#c00', ({ twoDown }) => twoDown),
        ],
      },
    ],
  });
  writeFileSync(join(__dirname, '../docs/images/twine-figure-14.svg'), svg);
  for (const { at, size, bound } of waves) console.log(`T${at}: ${size} tasks together, at most ${bound} could be`);
  console.log(`most shards with two replicas down: ${Math.max(...moments.map(({ twoDown }) => twoDown))}`);
}

void main();
