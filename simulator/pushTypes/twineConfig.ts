import { isJsonObject } from '../../domain/json';
import type { TwineFleet } from '../twine/fleet';
import type { Job } from '../twine/job';
import { roomRefusal } from '../twine/swaps';

/**
 * The `config` of the push type `twine`: `{ jobs: [name, …] }`, jobs of one service, or `{ service }`, all of its jobs. Either may have `env`, the
 * variables of the tasks, which simulated tasks do not read.
 */

export interface ConfigProblem {
  readonly path: string;
  readonly message: string;
  /** The code with which a call is refused that cannot work because of the problem. */
  readonly code?: 'container-too-small';
}

export function configProblems(fleet: TwineFleet, config: Readonly<Record<string, unknown>>): ConfigProblem[] {
  const { jobs, service, env, ...unknown } = config;
  const extra = [
    ...Object.keys(unknown).map((key) => ({ path: `config.${key}`, message: `twine knows jobs and env, not ${key}` })),
    ...envProblems(env),
  ];
  if (typeof service === 'string' && jobs === undefined)
    return listConfiguredJobs(fleet, config).length > 0
      ? extra
      : [...extra, { path: 'config.service', message: `no job belongs to the service ${service}` }];
  if (!Array.isArray(jobs) || jobs.length === 0)
    return [...extra, { path: 'config.jobs', message: 'expected a list of job names' }];
  return [...extra, ...jobs.flatMap((job: unknown, index) => jobProblems(fleet, jobs, job, index))];
}

function envProblems(env: unknown): ConfigProblem[] {
  if (env === undefined) return [];
  if (!isJsonObject(env)) return [{ path: 'config.env', message: 'expected variables and their values' }];
  return Object.entries(env)
    .filter(([, value]) => typeof value !== 'string' && typeof value !== 'number')
    .map(([name]) => ({ path: `config.env.${name}`, message: 'expected a text or a number' }));
}

/** The jobs that a config names; none if the config is invalid. */
export function listConfiguredJobs({ jobs }: TwineFleet, config: Readonly<Record<string, unknown>>): string[] {
  const { jobs: names, service } = config;
  if (Array.isArray(names)) return names.filter((job) => typeof job === 'string');
  return [...jobs.values()].filter((job) => job.service === service).map(({ name }) => name);
}

/** Whether a config includes a job; an invalid config excludes none. */
export function isConfigured({ jobs, service }: Readonly<Record<string, unknown>>, job: Job): boolean {
  if (Array.isArray(jobs)) return jobs.length === 0 || jobs.includes(job.name);
  return service === undefined || service === job.service;
}

function jobProblems(fleet: TwineFleet, jobs: readonly unknown[], name: unknown, index: number): ConfigProblem[] {
  const path = `config.jobs[${index}]`;
  if (typeof name !== 'string') return [{ path, message: 'expected the name of a job' }];
  const job = fleet.jobs.get(name);
  if (job === undefined) return [{ path, message: `no job ${name}` }];
  if (jobs.indexOf(name) < index) return [{ path, message: `${name} is named twice` }];
  const first = fleet.jobs.get(String(jobs[0]));
  const noRoom = roomRefusal(job);
  if (noRoom !== null) return [{ path, message: noRoom, code: 'container-too-small' }];
  if (first === undefined || first.service === job.service) return [];
  return [{ path, message: `${name} belongs to the service ${job.service}, ${first.name} to ${first.service}` }];
}
