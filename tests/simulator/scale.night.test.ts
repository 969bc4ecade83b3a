import { Simulation } from '../../simulator/simulation';
import { addJob } from '../../simulator/twine/jobs';
import { acceptUpdate } from '../../simulator/twine/updates';
import { collectGarbage } from '../builders/garbage';
import { START } from '../builders/simulatorFleet';

const TASKS = 500_000;
const REGIONS = 10;
const LIMIT_BYTES = 1.5 * 1024 ** 3;

function givenWorld(tasks: number) {
  const simulation = new Simulation({ seed: 1, speed: 1 });
  simulation.world.advanceTo(START);
  const timings = { fetchMs: 3000, stopMs: 1000, startMs: 6000 };
  const spec = { service: 'web', labels: {}, nSmall: { percent: 10 }, budget: { percent: 20 }, timings };
  const jobs = Array.from({ length: REGIONS }, (_, index) =>
    addJob(simulation, {
      ...spec,
      name: `web-r${index}`,
      region: `r${index}`,
      size: tasks / REGIONS,
      version: 'web:1',
    }),
  );
  return { simulation, jobs };
}

test('a task takes 45 bytes, whatever else the world knows of it is shared', () => {
  const { jobs } = givenWorld(TASKS);
  const bytes = jobs.flatMap(({ tasks }) => Object.values(tasks).map((column: Uint8Array) => column.byteLength));
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBe(45 * TASKS);
});

test('an update of 500,000 tasks in ten regions comes through with every checker on, in less than 1.5 GiB', () => {
  const used = (): number => {
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  // Garbage of other tests would be collected meanwhile, and be counted as if this one had freed it.
  collectGarbage();
  const before = used();
  const { simulation, jobs } = givenWorld(TASKS);
  const wish = { version: 'web:2', amount: { all: true }, updatedBy: undefined, exclude: undefined } as const;
  const id = 'deploy/web/1/deploy/1/0/1';
  acceptUpdate(simulation, { id, urgency: 'normal', wholeUnit: true, targets: jobs.map((job) => ({ job, ...wish })) });
  let [most, now] = [0, START];
  for (; jobs.some(({ active }) => active.length > 0) && now < START + 3_600_000; now += 10_000) {
    simulation.world.advanceTo(now);
    most = Math.max(most, used());
  }
  expect(jobs.every((job) => job.active.length === 0 && job.unavailable === 0)).toBe(true);
  expect(
    jobs.every(({ tasks }) => tasks.version.every((version) => version === simulation.fleet.indices.get('web:2'))),
  ).toBe(true);
  expect(simulation.state.violations).toEqual([]);
  expect(most - before).toBeLessThan(LIMIT_BYTES);
  expect(most - before).toBeGreaterThan(45 * TASKS);
}, 120_000);
