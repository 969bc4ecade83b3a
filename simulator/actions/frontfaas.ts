import type { Hono } from 'hono';
import { z } from 'zod';
import { ExtensionError } from '../../sdk/server';
import { hashText, noise } from '../kernel/random';
import { metricWorld, STEP_MS } from '../metrics/series';
import { queryMetrics } from '../metrics/store';
import type { Simulation } from '../simulation';
import { internName } from '../twine/fleet';
import { budgetOfJob, formatIdentifier, listTaskSlots, type Job } from '../twine/job';
import { prefetchVersion } from '../twine/swaps';
import { findJobs } from './jobs';
import { runService, runOptions, outputNames, type RunOutcome, type StartRun } from './runs';

/** The custom actions of the frontfaas example (Conveyor §4). */

const frontfaasSchema = z.looseObject({
  /** The jobs to check; by default the jobs of the service with the pipeline's name. */
  jobs: z.array(z.string()).optional(),
  /** `sanity-check`: more failing requests than this raise an alert. */
  maxErrorRatio: z.number().gt(0).lte(1).default(0.05),
  /** `load-test-filter`: the share of machines under load test. */
  share: z.number().gt(0).lte(1).default(0.1),
  /** `check-and-prefetch`: the jobs that are updated next, and the input that each of them gets. */
  next: z.record(z.string(), z.string()).default({}),
});
type FrontfaasInput = z.output<typeof frontfaasSchema>;

/** How far alerts look back, in simulated ms. */
const LOOKBACK_MS = 3 * STEP_MS;

/** Fails while an alert blocks deploys: too many requests fail, or more tasks are down than the budget allows. */
export const sanityCheck = (simulation: Simulation): Hono =>
  runService(simulation, 'sanity-check', (request): RunOutcome => {
    const options = runOptions(frontfaasSchema, request);
    const jobs = findJobs(simulation, options.jobs ?? request.pipeline);
    const alerts = findJobAlerts(simulation, jobs, options, request);
    return {
      outputs: [],
      steps: ['reading alerts'],
      failure: formatBlockReason(alerts),
      said: `no alert on ${jobs.length} jobs`,
    };
  });

/**
 * Lists the machines under load test, so that a check does not blame their load on a bad version. The result is an
 * artifact whose metadata names the machines and the tasks on them.
 */
export const loadTestFilter = (simulation: Simulation): Hono =>
  runService(simulation, 'load-test-filter', (request): RunOutcome => {
    const options = runOptions(frontfaasSchema, request);
    const tested = findJobs(simulation, options.jobs ?? request.pipeline).flatMap((job) =>
      underLoadTest(simulation, job, options.share),
    );
    const machines = [...new Set(tested.map(({ machine }) => machine))].sort().join(',');
    const metadata = { machines, tasks: tested.map(({ task }) => task).join(',') };
    const version = hashText(machines).toString(16);
    const outputs = outputNames(request, []).map((name) => ({ name, kind: 'config', version, metadata }));
    return { outputs, failure: null, steps: ['reading the schedule'], said: `under load test: ${machines || 'none'}` };
  });

/**
 * Checks for alerts after a pool was deployed. If there is none, the machines of the next pool prefetch their version.
 * The tasks named in an input from `load-test-filter` are not checked.
 */
export const checkAndPrefetch = (simulation: Simulation): Hono =>
  runService(simulation, 'check-and-prefetch', (request): RunOutcome => {
    const options = runOptions(frontfaasSchema, request);
    const jobs = findJobs(simulation, options.jobs ?? request.pipeline);
    const next = nextVersions(simulation, options, request);
    const steps = ['reading alerts', 'fetching what comes next'];
    const failure = formatBlockReason(findJobAlerts(simulation, jobs, options, request));
    if (failure === null) for (const { job, version } of next) prefetchVersion(simulation, job, version);
    const said = `no alert on ${jobs.length} jobs; ${next.length} jobs fetch what comes next`;
    return { outputs: [], steps, failure, said };
  });

function nextVersions(
  simulation: Simulation,
  { next }: FrontfaasInput,
  { inputs }: StartRun,
): { job: Job; version: number }[] {
  const jobs = findJobs(simulation, Object.keys(next));
  return jobs.map((job) => {
    const input = inputs.find(({ name }) => name === next[job.name]);
    if (input) return { job, version: internName(simulation.fleet, input.version) };
    throw new ExtensionError('invalid-request', `with.next.${job.name}: no input is called ${next[job.name]}`);
  });
}

const formatBlockReason = (alerts: readonly string[]): string | null =>
  alerts.length === 0 ? null : `deploys are blocked: ${alerts.join('; ')}`;

function findJobAlerts(
  simulation: Simulation,
  jobs: readonly Job[],
  { maxErrorRatio }: FrontfaasInput,
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
    const errors = failing > maxErrorRatio ? [`${percent}% of the requests to ${job.name} fail`] : [];
    const down = job.unavailable > budgetOfJob(job) ? [`${job.unavailable} tasks of ${job.name} are down`] : [];
    return [...errors, ...down];
  });
}

/** The seed alone decides which machines are under load test. */
function underLoadTest(simulation: Simulation, job: Job, share: number): { machine: string; task: string }[] {
  const { seed } = simulation.world.kernel;
  return listTaskSlots(job).flatMap((slot) => {
    const index = job.tasks.machine[slot] ?? 0;
    if (noise(seed, hashText(`load test ${job.region}`), index, 0) >= share) return [];
    return [
      { machine: `${job.region}-m${index}`, task: formatIdentifier(job.name, slot, job.tasks.starts[slot] ?? 0) },
    ];
  });
}
