import { RUNNING, type Job } from '../twine/job';
import { metricValueAt, type MetricWorld } from './series';

/** The mean of this many tasks is close enough to that of all. */
const SAMPLE = 100;

/** CPU of the running tasks of a job, 0 to 1, on average. */
export function averageJobCpu(world: MetricWorld, job: Job, now: number): number {
  const { tasks, size } = job;
  const values: number[] = [];
  for (let slot = 0; slot < size; slot += Math.max(1, Math.floor(size / SAMPLE))) {
    if (tasks.state[slot] !== RUNNING) continue;
    const task = {
      slot,
      start: tasks.starts[slot] ?? 0,
      version: tasks.version[slot] ?? 0,
      from: tasks.startedAt[slot] ?? 0,
      to: Infinity,
      crashed: false,
    };
    values.push(metricValueAt(world, job, 'system.cpu', task, now));
  }
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
