import { plural } from '../../domain/text';
import type { Pace, Twine } from './fleet';
import { budgetOfJob, type Job } from './job';

/** Simulated ms after which a region that has used up its operations checks again. */
const PACE_MS = 1000;

/** Why no running task of the job may become unavailable now; null when one may. */
export function budgetRefusal(job: Job): string | null {
  const allowed = budgetOfJob(job);
  if (job.unavailable < allowed) return null;
  return `waiting for the unavailability budget: ${plural(job.unavailable, 'task')} down, ${allowed} allowed`;
}

/** Why the region does no destructive operation now; null if it may. A refused region is checked again automatically. */
export function paceRefusal(twine: Twine, region: string): string | null {
  const pace = refillPace(twine, region);
  if (pace.left >= 1) return null;
  if (!pace.isWaiting) twine.world.after(PACE_MS, { kind: 'pace', region });
  pace.isWaiting = true;
  return `waiting for the rate limit of region ${region}: ${twine.fleet.paceLimit.perMinute} destructive operations a minute`;
}

/** Counts one destructive operation. */
export function spendPace(twine: Twine, region: string): void {
  refillPace(twine, region).left -= 1;
}

/** Schedules the jobs of a region that was refused. */
export function resumePace(twine: Twine, region: string): void {
  refillPace(twine, region).isWaiting = false;
}

function refillPace({ fleet, world }: Twine, region: string): Pace {
  const { perMinute, burst } = fleet.paceLimit;
  let pace = fleet.paces.get(region);
  if (pace === undefined) fleet.paces.set(region, (pace = { left: burst, at: world.now, isWaiting: false }));
  const minutes = ((world.now - pace.at) * world.kernel.speed) / 60_000;
  pace.left = Math.min(burst, pace.left + minutes * perMinute);
  pace.at = world.now;
  return pace;
}
