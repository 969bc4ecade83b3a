import { ExtensionError } from '../../sdk/server';
import type { Simulation } from '../simulation';
import type { Job } from '../twine/job';

/** The jobs that an action names, or those of a service. Throws if there are none. */
export function findJobs({ fleet }: Simulation, which: readonly string[] | string): Job[] {
  const jobs = [...fleet.jobs.values()];
  if (typeof which === 'string') {
    const found = jobs.filter(({ service }) => service === which);
    if (found.length > 0) return found;
    throw new ExtensionError('unknown-unit', `with.jobs: no job belongs to the service ${which}; name them`);
  }
  return which.map((name) => {
    const job = fleet.jobs.get(name);
    if (job) return job;
    throw new ExtensionError('unknown-unit', `with.jobs: no job ${name}`);
  });
}
