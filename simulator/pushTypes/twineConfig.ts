import type { Fleet } from '../twine/fleet';
import { roomRefusal } from '../twine/swaps';

/** The `config` of the push type `twine`: `{ jobs: [name, …] }`, jobs of one service. */

export interface ConfigProblem {
  readonly path: string;
  readonly message: string;
}

export function configProblems(fleet: Fleet, config: Readonly<Record<string, unknown>>): ConfigProblem[] {
  const unknown = Object.keys(config).filter((key) => key !== 'jobs');
  const extra = unknown.map((key) => ({ path: `config.${key}`, message: `twine knows only jobs, not ${key}` }));
  const { jobs } = config;
  if (!Array.isArray(jobs) || jobs.length === 0)
    return [...extra, { path: 'config.jobs', message: 'expected a list of job names' }];
  return [...extra, ...jobs.flatMap((job: unknown, index) => jobProblems(fleet, jobs, job, index))];
}

/** The jobs that a config names; none when it names none properly. */
export function configuredJobs(config: Readonly<Record<string, unknown>>): string[] {
  return Array.isArray(config['jobs']) ? config['jobs'].filter((job) => typeof job === 'string') : [];
}

function jobProblems(fleet: Fleet, jobs: readonly unknown[], name: unknown, index: number): ConfigProblem[] {
  const path = `config.jobs[${index}]`;
  if (typeof name !== 'string') return [{ path, message: 'expected the name of a job' }];
  const job = fleet.jobs.get(name);
  if (job === undefined) return [{ path, message: `no job ${name}` }];
  if (jobs.indexOf(name) < index) return [{ path, message: `${name} is named twice` }];
  const first = fleet.jobs.get(String(jobs[0]));
  const noRoom = roomRefusal(job);
  if (noRoom !== null) return [{ path, message: noRoom }];
  if (first === undefined || first.service === job.service) return [];
  return [{ path, message: `${name} belongs to the service ${job.service}, ${first.name} to ${first.service}` }];
}
