import { setTimeout as wait } from 'node:timers/promises';
import { Hono, type Context } from 'hono';
import { viaApp } from '../sdk/client';
import type { Fetch } from '../sdk/request';
import { runEnded } from '../sdk/runEnded';
import { serveDataSource } from '../sdk/server';
import { actionServices } from './actions/services';
import { controlApi } from './control';
import { callControllers, callElsewhere, type Network } from './controllers/calls';
import { controllerServices } from './controllers/services';
import { finderServices } from './finders/finder';
import { LostReplyError, throughFaults } from './httpFaults';
import { queryMetrics } from './metrics/store';
import { metricWorld } from './metrics/series';
import { dependencyGraph } from './monorepo/dependencyGraph';
import { SimulatedConfig } from './pushTypes/config';
import { fleetJudge, type FleetJudge, type FleetJudgeOptions } from './pushTypes/judge';
import { twinePushType } from './pushTypes/twine';
import { Simulation, type SimulationOptions } from './simulation';
import { ticketService } from './tickets/tickets';

export interface SimulatorOptions extends SimulationOptions {
  /** ms since the epoch, from the wall clock or a test. May jump ahead; never goes back. */
  readonly now: () => number | Promise<number>;
  /** For delayed answers (HTTP faults); the wall clock by default. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** Reaches task controllers in the same process; the world stops while it waits for them … */
  readonly fetch?: Fetch;
  /** … and, without `fetch`, those elsewhere, for which only their own jobs wait; the network by default. */
  readonly network?: Fetch;
  /** The Health Check Service that judges for the push types; without it they judge themselves. */
  readonly healthService?: FleetJudgeOptions;
}

export interface Simulator {
  /** All routes over HTTP; callable in the same process with `app.request` or `viaApp(app)`. */
  readonly app: Hono;
  readonly simulation: Simulation;
  /** Brings the world to the present moment. Every request does this first. */
  readonly advance: () => Promise<void>;
}

/**
 * The simulated world behind its HTTP faces: `/control/*`, `/push-types/<twine or config>/<method>`,
 * `/actions/<name>/<method>`, `/artifact-finders/<name>/getArtifacts`, `/data-source/query`, `/dependency-graph/getDependents`,
 * `/tickets/<method>`, `/task-controllers/<kind>/process`, `/livez`, `/readyz`. HTTP faults apply to the services, never to the control API.
 */
export function createSimulator(options: SimulatorOptions): Simulator {
  const simulation = new Simulation({ ...options, asksAtPresent: options.fetch === undefined });
  const sleep = options.sleep ?? ((ms: number) => wait(ms, undefined, { ref: false }));
  const judge = fleetJudge(simulation, options.healthService, sleep);
  const config = new SimulatedConfig(simulation, judge);
  const services = serviceApp(simulation, judge, config);
  const network = { inside: viaApp(services), outside: options.fetch ?? options.network ?? fetch };
  const advance = createAdvancer(simulation, options.now, network, sleep, config);
  const app = new Hono();
  app.onError((error, c) => {
    if (error instanceof LostReplyError) throw error;
    return c.json({ error: { code: 'internal', message: error.message, retryable: true } }, 500);
  });
  app.notFound(respondNotFound);
  app.get('/livez', (c) => c.text('ok'));
  app.get('/readyz', (c) => c.text('ok'));
  app.use(async (c, next) => {
    simulation.url = new URL(c.req.url).origin;
    await advance();
    await next();
  });
  app.route('/control', controlApi(simulation));
  const callBack = async ({ at, callback }: Simulation['callbacks'][number]): Promise<void> => {
    await sleep(Math.max(0, at - (await options.now())));
    await advance();
    await runEnded(callback, { fetch: network.outside });
  };
  app.use('/actions/*', async (_c, next) => {
    await next();
    for (const due of simulation.callbacks.splice(0)) void callBack(due).catch(() => undefined);
  });
  for (const path of [
    '/push-types/*',
    '/actions/*',
    '/artifact-finders/*',
    '/data-source/*',
    '/dependency-graph/*',
    '/task-controllers/*',
    '/tickets/*',
  ])
    app.all(path, (c) =>
      throughFaults(simulation, services, c, async (ms) => {
        await sleep(ms);
        await advance();
      }),
    );
  return { app, simulation, advance };
}

/**
 * Brings the world to a moment, one caller at a time. On the way it calls the task controllers in this process as they fall due, and lets the push
 * type `config` make its steps. The world stops meanwhile: a call that arrives then (from a controller that asks for more) sees it unchanged.
 * Controllers elsewhere are called afterwards, and no caller waits for them.
 */
function createAdvancer(
  simulation: Simulation,
  now: SimulatorOptions['now'],
  network: Network,
  sleep: (ms: number) => Promise<void>,
  config: SimulatedConfig,
): () => Promise<void> {
  let isAsking = false;
  let last = Promise.resolve();
  const advance = async (): Promise<void> => {
    const until = await now();
    const mustStop = () => simulation.fleet.asking.size > 0 || simulation.configerator.isStepDue;
    while (!simulation.world.advanceTo(until, mustStop)) {
      isAsking = true;
      const stop = simulation.configerator.isStepDue ? config.step() : callControllers(simulation, network, now);
      await stop.finally(() => (isAsking = false));
    }
    for (const call of callElsewhere(simulation, network, now)) void call.then(goOn).catch(() => undefined);
  };
  const inTurn = (): Promise<void> => {
    if (isAsking) return Promise.resolve();
    const turn = last.then(advance);
    last = turn.catch(() => undefined);
    return turn;
  };
  /** Uses answers at once and makes the next call in time, even if no request advances the world. */
  const goOn = async (name: string): Promise<void> => {
    await inTurn();
    const dueAt = simulation.fleet.jobs.get(name)?.control?.dueAt;
    if (dueAt === null || dueAt === undefined) return;
    await sleep(Math.max(1, dueAt - (await now())));
    await inTurn();
  };
  return inTurn;
}

const respondNotFound = (c: Context): Response =>
  c.json({ error: { code: 'not-found', message: `nothing at ${c.req.path}`, retryable: false } }, 404);

function serviceApp(simulation: Simulation, judge: FleetJudge, config: SimulatedConfig): Hono {
  const app = new Hono();
  app.notFound(respondNotFound);
  app.route('/push-types/twine', twinePushType(simulation, judge));
  app.mount('/push-types/config', config.fetch);
  for (const [name, service] of Object.entries(actionServices(simulation))) app.route(`/actions/${name}`, service);
  for (const [name, finder] of finderServices(simulation)) app.route(`/artifact-finders/${name}`, finder);
  for (const [kind, service] of controllerServices(simulation)) app.route(`/task-controllers/${kind}`, service);
  const dataSource = serveDataSource('simulator', {
    query: (query) => ({ series: queryMetrics(metricWorld(simulation), simulation.world.now, query) }),
  });
  app.route('/data-source', dataSource);
  app.route('/dependency-graph', dependencyGraph(simulation));
  app.route('/tickets', ticketService(simulation));
  return app;
}
