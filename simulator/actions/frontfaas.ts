import type { Hono } from 'hono';
import { z } from 'zod';
import { hashText, noise } from '../kernel/random';
import { metricWorld, STEP_MS } from '../metrics/series';
import { queryMetrics } from '../metrics/store';
import type { Simulation } from '../simulation';
import { budgetOf, identifierOf, type Job } from '../twine/job';
import { jobsOf } from './jobs';
import { actionService, optionsOf, outputNames, type Outcome, type StartRun } from './runs';

/** The custom actions of the frontfaas example (Conveyor §4). */

const withSchema = z.looseObject({
  /** What is looked at; by default the jobs of the service with the pipeline's name. */
  jobs: z.array(z.string()).optional(),
  /** `sanity-check`: more failing requests than this raise an alert. */
  maxErrorRatio: z.number().gt(0).lte(1).default(0.05),
  /** `load-test-filter`: the share of machines that are under load test. */
  share: z.number().gt(0).lte(1).default(0.1),
  /** `check-and-prefetch`: the jobs that are updated next. */
  next: z.array(z.string()).default([]),
});
type With = z.output<typeof withSchema>;

/** How far alerts look back, in simulated ms. */
const LOOKBACK_MS = 3 * STEP_MS;

/** Fails while an alert is up that blocks deploys: requests fail, or more tasks are down than may be. */
export const sanityCheck = (simulation: Simulation): Hono =>
  actionService(simulation, 'sanity-check', (request): Outcome => {
    const options = optionsOf(withSchema, request);
    const jobs = jobsOf(simulation, options.jobs ?? request.pipeline);
    const alerts = alertsOf(simulation, jobs, options, request);
    return {
      outputs: [],
      steps: ['reading alerts'],
      failure: blocked(alerts),
      said: `no alert on ${jobs.length} jobs`,
    };
  });

/**
 * Says which machines are under load test, so that nobody takes their load for a bad version: an artifact whose metadata
 * has the machines and the tasks on them.
 */
export const loadTestFilter = (simulation: Simulation): Hono =>
  actionService(simulation, 'load-test-filter', (request): Outcome => {
    const options = optionsOf(withSchema, request);
    const tested = jobsOf(simulation, options.jobs ?? request.pipeline).flatMap((job) =>
      underLoadTest(simulation, job, options.share),
    );
    const machines = [...new Set(tested.map(({ machine }) => machine))].sort().join(',');
    const metadata = { machines, tasks: tested.map(({ task }) => task).join(',') };
    const version = hashText(machines).toString(16);
    const outputs = outputNames(request, []).map((name) => ({ name, kind: 'config', version, metadata }));
    return { outputs, failure: null, steps: ['reading the schedule'], said: `under load test: ${machines || 'none'}` };
  });

/**
 * Looks again after a pool was deployed, before the next one fetches the new version. What `load-test-filter` made is not
 * looked at, if it is an input.
 */
export const checkAndPrefetch = (simulation: Simulation): Hono =>
  actionService(simulation, 'check-and-prefetch', (request): Outcome => {
    const options = optionsOf(withSchema, request);
    const jobs = jobsOf(simulation, options.jobs ?? request.pipeline);
    const tasks = jobsOf(simulation, options.next).reduce((sum, { size }) => sum + size, 0);
    const steps = ['reading alerts', 'looking what comes next'];
    const failure = blocked(alertsOf(simulation, jobs, options, request));
    // The fleet fetches when it updates; it cannot be asked to do so before.
    return {
      outputs: [],
      steps,
      failure,
      said: `no alert on ${jobs.length} jobs; ${tasks} tasks fetch when they are updated`,
    };
  });

const blocked = (alerts: readonly string[]): string | null =>
  alerts.length === 0 ? null : `deploys are blocked: ${alerts.join('; ')}`;

function alertsOf(
  simulation: Simulation,
  jobs: readonly Job[],
  { maxErrorRatio }: With,
  { inputs }: StartRun,
): string[] {
  const excluded = new Set(inputs.flatMap(({ metadata }) => metadata['tasks']?.split(',') ?? []));
  return jobs.flatMap((job) => {
    const { now } = simulation.world;
    const step = STEP_MS / simulation.speed;
    const start = now - simulation.world.scaled(LOOKBACK_MS);
    const query = { metric: 'rpc.error_ratio', selector: { unit: job.name }, start, end: now, step };
    const values = queryMetrics(metricWorld(simulation), now, query)
      .filter(({ labels }) => !excluded.has(labels['task'] ?? ''))
      .flatMap(({ points }) => points.map(([, value]) => value));
    const failing = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
    const percent = (failing * 100).toFixed(1);
    const errors = failing > maxErrorRatio ? [`${percent} % of the requests to ${job.name} fail`] : [];
    const down = job.unavailable > budgetOf(job) ? [`${job.unavailable} tasks of ${job.name} are down`] : [];
    return [...errors, ...down];
  });
}

/** Chosen by the seed: each machine is or is not, whoever asks. */
function underLoadTest(simulation: Simulation, job: Job, share: number): { machine: string; task: string }[] {
  const { seed } = simulation.world.kernel;
  return Array.from({ length: job.size }, (_, slot) => slot).flatMap((slot) => {
    const index = job.tasks.machine[slot] ?? 0;
    if (noise(seed, hashText(`load test ${job.region}`), index, 0) >= share) return [];
    return [{ machine: `${job.region}-m${index}`, task: identifierOf(job.name, slot, job.tasks.starts[slot] ?? 0) }];
  });
}
