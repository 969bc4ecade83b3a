import type { Hono } from 'hono';
import { z } from 'zod';
import { STEP_MS } from '../metrics/series';
import { queryMetrics } from '../metrics/store';
import { metricWorld } from '../metrics/series';
import type { Simulation } from '../simulation';
import { findJobs } from './jobs';
import { runOptions, outputNames, type Sight, type StartRun, watchService } from './runs';

const profileSchema = z.looseObject({
  /** The jobs to profile; by default the jobs of the service with the pipeline's name. */
  jobs: z.array(z.string()).optional(),
  /** The number of CPU samples in a profile. Every task that runs the version gives one a minute. */
  samples: z.number().int().positive().default(10),
});

/** Simulated ms after which a profiler gives up. */
const PROFILE_TIMEOUT_MS = 30 * 60_000;

/**
 * The profiler of the fdo example: watches the tasks that run its input version through the data source, and makes an
 * artifact of kind `profile` once it has enough samples. It fails if too few tasks run that version.
 */
export const profiler = (simulation: Simulation): Hono =>
  watchService(simulation, 'profile', {
    check: (request) => void findJobs(simulation, runOptions(profileSchema, request).jobs ?? request.pipeline),
    look: (request, startedAt) => collectSamples(simulation, request, startedAt),
  });

function collectSamples(simulation: Simulation, request: StartRun, startedAt: number): Sight {
  const { samples: wanted, jobs } = runOptions(profileSchema, request);
  const version = findProfiledVersion(request);
  if (version === undefined)
    return { kind: 'failed', message: 'there is nothing to profile: the action has no inputs' };
  const end = startedAt + simulation.world.scaled(PROFILE_TIMEOUT_MS);
  const step = STEP_MS / simulation.speed;
  const query = { metric: 'system.cpu', start: startedAt, end, step };
  const series = findJobs(simulation, jobs ?? request.pipeline).flatMap((job) => {
    const selector = { unit: job.name, labels: { version } };
    return queryMetrics(metricWorld(simulation), simulation.world.now, { ...query, selector });
  });
  const all = series.flatMap(({ labels, points }) =>
    points.map(([at, cpu]) => ({ task: labels['task'] ?? '', at, cpu })),
  );
  const taken = all.sort((a, b) => a.at - b.at).slice(0, wanted);
  const tasks = new Set(taken.map(({ task }) => task)).size;
  const seen = `${taken.length} of ${wanted} samples from ${tasks} task${tasks === 1 ? '' : 's'} on ${version}`;
  if (taken.length < wanted)
    return simulation.world.now < end
      ? { kind: 'going', progress: taken.length / wanted, message: seen }
      : { kind: 'failed', message: `only ${seen}: deploy it to some that get traffic first` };
  const cpu = taken.reduce((sum, sample) => sum + sample.cpu, 0) / taken.length;
  const metadata = { of: version, tasks: String(tasks), samples: String(wanted), cpu: cpu.toFixed(3) };
  const outputs = outputNames(request, ['profile']).map((name) => ({
    ...{ name, kind: 'profile', version: `${version}-profile-${request.release}` },
    metadata,
  }));
  return { kind: 'succeeded', message: seen, outputs };
}

const findProfiledVersion = ({ inputs }: StartRun): string | undefined =>
  (inputs.find(({ kind }) => kind === 'executable') ?? inputs[0])?.version;
