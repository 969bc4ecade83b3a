import type { Hono } from 'hono';
import { callExtension, conversation, dataSourceProtocol, loadAdaptive, loadOf, serveTaskController } from '../../sdk';
import type { Fetch, ServiceEndpoint } from '../../sdk';

export interface LoadOptions {
  /** The data source for the CPU of the tasks. */
  readonly metrics: ServiceEndpoint;
  /** The number of tasks of a job, whether or not they run. */
  readonly tasksOf: (job: string) => number | Promise<number>;
  /** The CPU that the others may reach while some are away: 0 to 1. */
  readonly limit: number;
  /** ms between two points of a series. */
  readonly stepMs: number;
  readonly now: () => number;
  readonly fetch?: Fetch;
}

/** The controller of a stateless service such as FrontFaaS: many tasks at once at night, few at the peak. */
export function loadController(options: LoadOptions): Hono {
  const answer = conversation(); // a stateless task is moved off a machine before its maintenance
  return serveTaskController('load-adaptive', {
    process: async (request) => {
      const { jobHandle } = request;
      const [tasks, load] = await Promise.all([options.tasksOf(jobHandle), loadNow(options, jobHandle)]);
      return answer(request, loadAdaptive({ tasks, load, limit: options.limit }));
    },
  });
}

async function loadNow({ metrics, stepMs, now, fetch }: LoadOptions, job: string): Promise<number> {
  const end = now();
  const { series } = await callExtension({
    service: metrics,
    protocol: dataSourceProtocol,
    method: 'query',
    request: { metric: 'system.cpu', selector: { unit: job }, start: end - stepMs, end, step: stepMs },
    context: { pipeline: job, release: 0, deployId: '', actor: 'service:load-adaptive', config: {} },
    ...(fetch === undefined ? {} : { fetch }),
  });
  // No task reports, so the free capacity is unknown. The cluster manager asks again.
  if (series.length === 0) throw new Error(`no CPU of ${job} in the last ${stepMs} ms`);
  return loadOf(series);
}
