import type { Twine } from './fleet';
import { faultCovers } from './topology';

/** A machine that is up and still free. */
export function spareMachine(twine: Pick<Twine, 'fleet'>, region: string): number {
  const { fleet } = twine;
  const jobs = [...fleet.jobs.values()].filter((job) => job.region === region);
  let next = Math.max(fleet.spareMachine.get(region) ?? 0, ...jobs.map((job) => job.size));
  const taken = (machine: number): boolean =>
    [...fleet.faults.values()].some((fault) => faultCovers(fault, region, machine));
  // A region that is entirely down has no such machine; its tasks wait on the last one tried.
  for (let tries = 0; tries < 24 && taken(next); tries += 1) next += 1;
  fleet.spareMachine.set(region, next + 1);
  return next;
}
