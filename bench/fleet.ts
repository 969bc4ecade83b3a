import { callExtension, viaApp } from '../sdk/client';
import { taskControllerProtocol, type TaskControlRequest } from '../sdk/protocol/taskController';
import { serveTaskController } from '../sdk/server';
import { createSimulator } from '../simulator/app';
import { addJob } from '../simulator/twine/jobs';
import { acceptUpdate } from '../simulator/twine/updates';
import { stepNaively } from './fleet/naive';

/**
 * `npx jiti bench/fleet.ts [tasks] [controlled]`: how fast the simulated world steps through an update of all its tasks, with every checker on, and
 * how much memory it takes; then through an update of one task in a hundred and an hour's bake. For comparison, a world of one object per task that
 * visits all of them each second, and checks nothing. Then the cost of decisions of a task controller, compared with one call for each operation.
 */

const REGIONS = 10;
const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 0, 5, 12);
const TIMINGS = { fetchMs: 3000, stopMs: 1000, startMs: 6000 };
const JOB = { service: 'web', labels: {}, nSmall: { percent: 10 }, budget: { percent: 20 }, timings: TIMINGS };

async function main(): Promise<void> {
  const [tasks = 500_000, controlled = 10_000] = process.argv.slice(2).map(Number);
  const ours = stepWorld(tasks, 100, 0);
  const naive = stepNaively(tasks, REGIONS, 1, 0);
  const [bake, naiveBake] = [stepWorld(tasks, 1, HOUR_MS), stepNaively(tasks, REGIONS, 0.01, HOUR_MS)];
  const calls = await decide(controlled);
  const rows: [string, string][] = [
    ['tasks, regions', `${tasks}, ${REGIONS}`],
    ['events of tasks', `${ours.events}`],
    ['an update of all, checked', `${ours.ms} ms (${Math.round(ours.events / (ours.ms / 1000))} events a second)`],
    ['violations', `${ours.violations}`],
    ['memory of the process', `${ours.rssMb} MB`],
    ['one object a task', `${naive.ms} ms`],
    ['ratio of time', (naive.ms / ours.ms).toFixed(2)],
    ['1% and an hour of bake', `${bake.ms} ms`],
    ['one object a task', `${naiveBake.ms} ms`],
    ['ratio of time', (naiveBake.ms / bake.ms).toFixed(1)],
    ['tasks with a controller', `${controlled}`],
    ['an update of them', `${calls.worldMs} ms, ${calls.calls} calls`],
    ['one call for each operation', `${calls.naiveMs} ms, ${controlled} calls`],
    ['ratio of calls', (controlled / calls.calls).toFixed(1)],
    ['ratio of time', (calls.naiveMs / calls.worldMs).toFixed(1)],
  ];
  for (const [name, value] of rows) console.log(`${name.padEnd(28)}${value}`);
}

function stepWorld(
  tasks: number,
  percent: number,
  bakeMs: number,
): { ms: number; events: number; violations: number; rssMb: number } {
  const { simulation } = createSimulator({ seed: 1, speed: 1, now: () => START });
  simulation.world.advanceTo(START);
  const jobs = Array.from({ length: REGIONS }, (_, index) =>
    addJob(simulation, { ...JOB, name: `web-r${index}`, region: `r${index}`, size: tasks / REGIONS, version: 'web:1' }),
  );
  const targets = jobs.map((job) => {
    const wish = { amount: { percent }, updatedBy: undefined, exclude: undefined } as const;
    return { job, version: 'web:2', ...wish };
  });
  const begun = performance.now();
  acceptUpdate(simulation, { id: 'deploy/web/1/deploy/1/0/1', urgency: 'normal', wholeUnit: true, targets });
  let now = START;
  while (jobs.some(({ active }) => active.length > 0) || now < START + bakeMs)
    simulation.world.advanceTo((now += 1000));
  const ms = Math.round(performance.now() - begun);
  const events = jobs.reduce((sum, { past }) => sum + 2 * past.slot.length, 0);
  const rssMb = Math.round(process.memoryUsage().rss / 1024 ** 2);
  return { ms, events, violations: simulation.state.violations.length, rssMb };
}

/** A controller that approves at most 5% of the job at once, called over the protocol without a socket. */
async function decide(tasks: number): Promise<{ worldMs: number; calls: number; naiveMs: number }> {
  let calls = 0;
  const app = serveTaskController('bench', {
    process: ({ request, allUnhealthyTasks }) => {
      calls += 1;
      return { ack: request.slice(0, Math.max(0, tasks / 20 - allUnhealthyTasks.length)).map(({ id }) => id) };
    },
  });
  let now = START;
  const simulator = createSimulator({ seed: 1, speed: 1, now: () => now, fetch: viaApp(app) });
  await simulator.advance();
  const control = { kind: 'external', url: 'http://bench', deadlineMs: 5000, everyMs: 1000, leader: 0, options: {} };
  const spec = { ...JOB, nSmall: { percent: 100 }, name: 'web-x', region: 'x', size: tasks, version: 'web:1', control };
  const job = addJob(simulator.simulation, spec);
  const wish = { amount: { all: true }, updatedBy: undefined, exclude: undefined } as const;
  const targets = [{ job, version: 'web:2', ...wish }];
  const begun = performance.now();
  acceptUpdate(simulator.simulation, { id: 'deploy/web/1/deploy/1/0/1', urgency: 'normal', wholeUnit: true, targets });
  while (job.active.length > 0) {
    now += 1000;
    await simulator.advance();
  }
  const worldMs = Math.round(performance.now() - begun);
  const counted = calls;
  return { worldMs, calls: counted, naiveMs: await askOneByOne(tasks, viaApp(app)) };
}

async function askOneByOne(tasks: number, fetch: ReturnType<typeof viaApp>): Promise<number> {
  const service = { name: 'bench', url: 'http://bench', timeoutMs: 60_000 };
  const unhealthy = Array.from({ length: tasks / 20 - 1 }, (_, slot) => `web-x/${slot}`);
  const begun = performance.now();
  for (let slot = 0; slot < tasks; slot += 1) {
    const op = { id: `u/${slot}`, task: `web-x/${slot}`, kind: 'update', toVersion: 'web:2' } as const;
    const request: TaskControlRequest = {
      ...{ jobHandle: 'web-x', request: [op], completed: [], advanceNotices: [] },
      ...{ allUnhealthyTasks: unhealthy, sequenceNumber: slot + 1 },
    };
    const protocol = taskControllerProtocol;
    await callExtension({ service, protocol, method: 'process', request, context: null, fetch });
  }
  return Math.round(performance.now() - begun);
}

void main();
