import { currentCount } from '../twine/countLog';
import type { Twine } from '../twine/fleet';
import { jobSize, type Job } from '../twine/job';
import { resizeJob } from '../twine/jobs';
import { schedulerDown } from '../twine/tasks';
import { averageJobCpu } from './cpu';
import type { MetricWorld } from './series';

/** A job is not resized by less than this share of its size, except to a bound. */
const SLACK = 0.05;

/** Sizes a job so that its running tasks reach their target CPU, and schedules the next look. */
export function autoscale(twine: Twine, world: MetricWorld, job: Job): void {
  const spec = job.autoscale;
  if (spec === null) return;
  twine.world.after(spec.everyMs, { kind: 'autoscale', job: job.name });
  const running = currentCount(job.running);
  if (running === 0 || job.removed !== null || schedulerDown(twine, job.region)) return;
  const wanted = Math.ceil((running * averageJobCpu(world, job, twine.world.now)) / spec.targetCpu);
  const size = Math.min(spec.max, Math.max(spec.min, wanted));
  const atBound = size === spec.min || size === spec.max;
  const present = job.shrink?.to ?? jobSize(job);
  if (size !== present && (atBound || Math.abs(size - present) > SLACK * present)) resizeJob(twine, job, size);
}
