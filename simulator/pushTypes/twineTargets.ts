import type { Target } from '../../sdk/protocol/pushType';
import { ExtensionError, type Call } from '../../sdk/server';
import type { Simulation } from '../simulation';
import type { Job } from '../twine/job';
import { busyWith, type UpdateTarget } from '../twine/updates';
import { isConfigured } from './twineConfig';

/** The jobs that a request means, and why it is refused. */

export function findJob(simulation: Simulation, name: string, field: string): Job {
  const job = simulation.fleet.jobs.get(name);
  if (job) return job;
  throw new ExtensionError('unknown-unit', `${field}: no job ${name}`, { status: 404 });
}

/** @throws ExtensionError for a job that is not there, or that the config does not name */
export function findConfiguredJob(simulation: Simulation, name: string, call: Call, field: string): Job {
  const job = findJob(simulation, name, field);
  if (isConfigured(call.context.config, job)) return job;
  throw new ExtensionError('unknown-unit', `${field}: ${name} is not one of config.jobs`, { status: 404 });
}

/** A target in the scheduler's form. Without an amount, a whole-unit update takes all tasks. */
export function toTarget(
  simulation: Simulation,
  target: Target,
  call: Call,
  field: string,
  all: boolean,
): UpdateTarget {
  const { unit, version, amount, updatedBy, exclude } = target;
  const job = findConfiguredJob(simulation, unit, call, `${field}.unit`);
  if (amount === undefined && updatedBy === undefined && !all)
    throw new ExtensionError('invalid-request', `${field}.amount: needed unless updatedBy says which tasks`);
  return { job, version, amount: amount ?? { all: true }, updatedBy, exclude };
}

type Busy = Parameters<typeof busyWith>[2];

/** @throws ExtensionError for an update that was cancelled before it came, or names a job twice */
export function refuseInvalid({ fleet }: Simulation, id: string, targets: readonly Busy[]): void {
  if (fleet.cancelled.has(id)) throw new ExtensionError('cancelled', `${id} was cancelled`, { status: 409 });
  if (new Set(targets.map(({ job }) => job)).size < targets.length)
    throw new ExtensionError('invalid-request', 'a unit is named twice');
}

/** @throws ExtensionError while another deploy updates the job */
export function refuseBusy({ fleet }: Simulation, id: string, target: Busy): void {
  const other = busyWith(fleet, id, target);
  if (other !== null)
    throw new ExtensionError('unit-busy', `${target.job.name} is being updated by ${other}`, { status: 409 });
}

/** A caller that lost a service to another deploy without knowing it may not change it; it may undo its own updates. */
export function checkFence({ state }: Simulation, targets: readonly Busy[], urgency: string, call: Call): void {
  const { fence } = call.context;
  if (fence === undefined || urgency === 'revert') return;
  for (const service of new Set(targets.map(({ job }) => job.service))) {
    if (fence < (state.fences.get(service) ?? 0))
      throw new ExtensionError('stale-fence', `another deploy holds ${service} by now`, { status: 409 });
    state.fences.set(service, fence);
  }
}
