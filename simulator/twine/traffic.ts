import { countAt } from './countLog';
import { nameAtIndex, type TrafficShift, type TwineFleet, type Twine } from './fleet';
import type { Job } from './job';

/** Sends a share of the requests of some jobs to a version. True when that changed anything. */
export function shiftTraffic(
  twine: Twine,
  jobs: readonly Job[],
  { version, percent, deploy }: Omit<TrafficShift, 'at'> & { readonly deploy: string },
): boolean {
  const traffic = twine.fleet.traffic ?? new Map<string, readonly TrafficShift[]>();
  const changed = jobs.filter(({ name }) => {
    const last = traffic.get(name)?.at(-1);
    return last?.version !== version || last.percent !== percent;
  });
  for (const { name } of changed)
    traffic.set(name, [...(traffic.get(name) ?? []), { at: twine.world.now, version, percent }]);
  for (const { name } of jobs) twine.notify({ kind: 'traffic-shifted', job: name, version, percent, deploy });
  return changed.length > 0;
}

/**
 * How many times its fair share of the requests a task on a version gets at a time; 1 if the traffic was never shifted.
 * The requests for a version that no task runs are lost: no other task gets them.
 */
export function trafficFactor(fleet: TwineFleet, job: Job, version: number, at: number): number {
  const shift = fleet.traffic?.get(job.name)?.findLast((one) => one.at <= at);
  const running = countAt(job.running, at);
  if (shift === undefined || running === 0) return 1;
  const named = countVersionAt(fleet, job, shift.version, at);
  const share = shift.percent / 100;
  // A task that did not run then is not counted.
  if (nameAtIndex(fleet, version) === shift.version) return named === 0 ? 0 : share / (named / running);
  return named === running ? 0 : (1 - share) / (1 - named / running);
}

function countVersionAt(fleet: TwineFleet, job: Job, version: string, at: number): number {
  const log = job.runningOf.get(fleet.indices.get(version) ?? -1);
  return log === undefined ? 0 : countAt(log, at);
}
