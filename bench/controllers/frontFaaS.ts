import { createSimulator, type Simulator } from '../../simulator/app';
import { averageJobCpu } from '../../simulator/metrics/cpu';
import { metricWorld } from '../../simulator/metrics/series';
import type { Job } from '../../simulator/twine/job';

/** Hours since midnight, and the state at that time. */
export interface Minute {
  readonly hour: number;
  /** Tasks on the version of the current release, and tasks away, as shares of all. */
  readonly updated: number;
  readonly away: number;
  /** The average over running tasks, 0 to 1. */
  readonly cpu: number;
  /** The load if all tasks ran: the load of that hour. */
  readonly load: number;
}

export interface Release {
  readonly hour: number;
  /** Minutes until all tasks were updated; undefined if that never happened. */
  readonly took: number | undefined;
  /** The load when it began. */
  readonly load: number;
}

export interface Day {
  readonly minutes: readonly Minute[];
  readonly releases: readonly Release[];
  readonly violations: readonly unknown[];
}

const TASKS = 10_000;
/** A release every three hours. */
const EVERY_MINUTES = 180;
const DAY_MINUTES = 1440;
/** Keeps the rest below 75%, with a margin for late measurements. */
const LIMIT = 0.72;
/** From 40% at night to two thirds at the peak, all running. */
const BUSY = { cpuFactor: 1.32 };
/** Ten minutes, give or take a fifth, for a task to fetch, stop, start and warm up. */
const TIMINGS = { fetchMs: 300_000, stopMs: 60_000, startMs: 240_000 };

/**
 * A day of FrontFaaS in one region (Conveyor §6.3 and Figure 5): 10,000 tasks, load that rises and falls, a release
 * every three hours, and the load-adaptive controller of the simulated world.
 */
export async function runDay(seed = 1): Promise<Day> {
  const midnight = Date.UTC(2026, 0, 5);
  // Starts a minute early, so that the load is known when the day begins.
  let nowMs = midnight - 60_000;
  const simulator = createSimulator({ seed, speed: 1, now: () => nowMs });
  const job = await givenJob(simulator);
  const minutes: Minute[] = [];
  const releases: Release[] = [];
  for (let minute = 0; minute < DAY_MINUTES; minute += 1) {
    nowMs = midnight + minute * 60_000;
    await simulator.advance();
    const now = look(simulator, job, minute, releases.length + 1);
    minutes.push(now);
    const last = releases.at(-1);
    if (last && last.took === undefined && now.updated === 1 && now.away === 0)
      releases[releases.length - 1] = { ...last, took: minute - Math.round(last.hour * 60) };
    if (minute % EVERY_MINUTES > 0) continue;
    releases.push({ hour: now.hour, took: undefined, load: now.load });
    await release(simulator, releases.length + 1);
  }
  return { minutes, releases, violations: simulator.simulation.state.violations };
}

async function givenJob(simulator: Simulator): Promise<Job> {
  for (let version = 1; version <= 1 + DAY_MINUTES / EVERY_MINUTES; version += 1)
    await call(simulator, '/control/versions', { version: `web:${version}`, behaviour: BUSY });
  const controller = { kind: 'load-adaptive', limit: LIMIT, everyMs: 120_000 };
  const free = { nSmall: '100%', budget: '60%', timings: TIMINGS, controller };
  await call(simulator, '/control/jobs', { name: 'web-x', region: 'x', tasks: TASKS, version: 'web:1', ...free });
  const job = simulator.simulation.fleet.jobs.get('web-x');
  if (job === undefined) throw new Error('no job');
  return job;
}

const release = (simulator: Simulator, version: number): Promise<void> =>
  call(simulator, '/push-types/twine/executeUpdates', {
    updateId: `deploy/web/${version}/deploy/1/0/1`,
    targets: [{ unit: 'web-x', version: `web:${version}`, artifacts: [], amount: { all: true } }],
    ...{ wholeUnit: true, urgency: 'normal' },
    context: { pipeline: 'web', release: version, deployId: 'd', actor: 'user:alice', config: {} },
  });

async function call({ app }: Simulator, path: string, body: object): Promise<void> {
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'idempotency-key': JSON.stringify(body) } };
  const response = await app.request(path, init);
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
}

function look({ simulation }: Simulator, job: Job, minute: number, version: number): Minute {
  const index = simulation.fleet.indices.get(`web:${version}`) ?? -1;
  const updated = job.tasks.version.subarray(0, job.size).filter((it) => it === index).length / job.size;
  const cpu = averageJobCpu(metricWorld(simulation), job, simulation.world.now);
  const away = job.unavailable / job.size;
  return { hour: minute / 60, updated, away, cpu, load: cpu * (1 - away) };
}
