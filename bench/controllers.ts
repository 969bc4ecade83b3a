import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAILURE, runFigure14, type Moment } from './controllers/figure14';
import { runDay, type Minute } from './controllers/frontFaaS';
import { drawPlot } from './controllers/plot';

/**
 * `npx jiti bench/controllers.ts`: the experiment of Twine §5.1 and a day of FrontFaaS (Conveyor §6.3) in the simulated
 * world, plotted as in the papers, into docs/images. The same seed always gives the same pictures.
 */
async function main(): Promise<void> {
  await figure14();
  await frontFaaS();
}

async function figure14(): Promise<void> {
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

async function frontFaaS(): Promise<void> {
  const { minutes, releases } = await runDay();
  const curve = (label: string, colour: string, value: (minute: Minute) => number) => ({
    label,
    colour,
    points: minutes.map((minute) => [minute.hour, Math.round(1000 * value(minute)) / 10] as const),
  });
  const svg = drawPlot({
    xLabel: 'hour of the day',
    panels: [
      {
        title: 'Tasks (%)',
        curves: [
          curve('on the new version', '#06c', ({ updated }) => updated),
          curve('away', '#c60', ({ away }) => away),
        ],
      },
      {
        title: 'CPU of the tasks that run (%)',
        curves: [curve('now', '#c00', ({ cpu }) => cpu), curve('if all ran', '#999', ({ load }) => load)],
      },
    ],
  });
  writeFileSync(join(__dirname, '../docs/images/frontfaas-day.svg'), svg);
  for (const { hour, load, took } of releases)
    console.log(`${hour}:00, load ${(100 * load).toFixed(0)}%: ${took} minutes`);
  console.log(`highest CPU: ${(100 * Math.max(...minutes.map(({ cpu }) => cpu))).toFixed(1)}%`);
}

void main();
