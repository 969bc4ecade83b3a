import type { Hono } from 'hono';
import { ExtensionError, serveTaskController } from '../../sdk/server';
import { averageJobCpu } from '../metrics/cpu';
import { metricWorld } from '../metrics/series';
import type { Simulation } from '../simulation';
import { formatTaskId } from '../twine/control';
import type { ControlState } from '../twine/controlState';
import { currentCount } from '../twine/countLog';
import { getRegionLayout } from '../twine/fleet';
import { listTaskSlots, type Job } from '../twine/job';
import { STANDARD_CONTROLLERS } from './index';
import type { ControllerHandler, ControllerView } from './controller';

/** The controllers that come with the world, by kind, each behind the real protocol. */
export function controllerServices(simulation: Simulation): [kind: string, service: Hono][] {
  const handlers = new WeakMap<ControlState, ControllerHandler>();
  return Object.entries(STANDARD_CONTROLLERS).map(([kind, { make }]) => {
    const service = serveTaskController(kind, {
      process: (request) => {
        const control = simulation.fleet.jobs.get(request.jobHandle)?.control;
        if (control?.kind !== kind)
          throw new ExtensionError('unknown-job', `no job ${request.jobHandle} with this controller`, { status: 404 });
        const handler = handlers.get(control) ?? make(control.options, controllerView(simulation, request.jobHandle));
        handlers.set(control, handler);
        return handler(request);
      },
    });
    return [kind, service];
  });
}

function controllerView(simulation: Simulation, name: string): ControllerView {
  const find = (): Job => {
    const job = simulation.fleet.jobs.get(name);
    if (job) return job;
    throw new ExtensionError('unknown-job', `no job ${name}`, { status: 404 });
  };
  return {
    job: name,
    now: () => simulation.world.now,
    speed: simulation.speed,
    slots: () => listTaskSlots(find()),
    msbs: () => getRegionLayout(simulation.fleet, find().region).msbs,
    running: () => currentCount(find().running),
    leader: () => (find().leader < 0 ? null : formatTaskId(find(), find().leader)),
    cpu: () => averageJobCpu(metricWorld(simulation), find(), simulation.world.now),
  };
}
