import type { Hono } from 'hono';
import { ExtensionError, serveTaskController } from '../../sdk/server';
import { valueAt } from '../metrics/series';
import { metricWorld } from '../pushTypes/twine';
import type { Simulation } from '../simulation';
import { taskIdOf, type Control } from '../twine/control';
import { currentCount } from '../twine/countLog';
import { RUNNING, type Job } from '../twine/job';
import { STANDARD_CONTROLLERS } from './index';
import type { ControllerHandler, ControllerView } from './controller';

/** The controllers that come with the world, by kind, each behind the real protocol. */
export function controllerServices(simulation: Simulation): [kind: string, service: Hono][] {
  const handlers = new WeakMap<Control, ControllerHandler>();
  return Object.entries(STANDARD_CONTROLLERS).map(([kind, { make }]) => {
    const service = serveTaskController(kind, {
      process: (request) => {
        const control = simulation.fleet.jobs.get(request.jobHandle)?.control;
        if (control?.kind !== kind)
          throw new ExtensionError('unknown-job', `no job ${request.jobHandle} with this controller`, { status: 404 });
        const handler = handlers.get(control) ?? make(control.options, viewOf(simulation, request.jobHandle));
        handlers.set(control, handler);
        return handler(request);
      },
    });
    return [kind, service];
  });
}

function viewOf(simulation: Simulation, name: string): ControllerView {
  const find = (): Job => {
    const job = simulation.fleet.jobs.get(name);
    if (job) return job;
    throw new ExtensionError('unknown-job', `no job ${name}`, { status: 404 });
  };
  return {
    job: name,
    now: () => simulation.world.now,
    speed: simulation.speed,
    tasks: () => Array.from({ length: find().size }, (_, slot) => taskIdOf(find(), slot)),
    running: () => currentCount(find().running),
    leader: () => (find().leader < 0 ? null : taskIdOf(find(), find().leader)),
    cpu: () => cpuOf(simulation, find()),
  };
}

/** The mean of so many tasks is near enough to that of all. */
const SAMPLE = 100;

/** CPU of the running tasks of a job, 0 to 1, on average. */
export function cpuOf(simulation: Simulation, job: Job): number {
  const { tasks, size } = job;
  const world = metricWorld(simulation);
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
    values.push(valueAt(world, job, 'system.cpu', task, simulation.world.now));
  }
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
